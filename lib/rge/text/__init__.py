"""What an answer says: its claims, numbers, citations, and whether it abstains."""
