"""What the notebooks show: tables, result values and closing sentences, one module a notebook."""
