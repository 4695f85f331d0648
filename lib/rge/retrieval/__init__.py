"""From chunks to frozen passages: embedding, index, top-k checked against exhaustive search."""
