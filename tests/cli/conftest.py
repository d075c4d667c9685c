"""How the tests run commands."""

import pytest

from linnaeus.cli.main import run


@pytest.fixture
def linnaeus(capsys):
    """Run a command; its exit code, standard output and standard error."""

    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            run([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return stop.value.code or 0, out, err

    return call
