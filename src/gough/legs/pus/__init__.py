"""PUS legs."""
