"""The laws, by what they are about; `matrixlearn.testing.checks` lists them all."""
