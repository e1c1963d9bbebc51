// Of the folder Other.
