"""`python -m steelyard`, and the `steelyard` command: Ctrl-C while the command is still being imported is no crash."""

import sys


def main() -> None:
    """Import the command line, then run it; exit status 130 when interrupted before it can answer for itself."""
    try:
        from steelyard.cli.main import main as run

        run()
    except KeyboardInterrupt:
        print("steelyard: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
