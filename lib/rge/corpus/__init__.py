"""From documents to chunks: sources, page text, headings, slices."""
