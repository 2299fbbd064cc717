"""What joins a palace with one package below it, one module for each noun of the command line."""
