from rge.cli import main

raise SystemExit(main())
