"""Classes that lean on their relatives: recursive regularisation, orthogonal transfer."""
