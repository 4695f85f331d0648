"""Whether judges can be believed: controls, the gate, and answers labelled by people."""
