/** What callers pass to count and sum stored claims, and what they get. */
