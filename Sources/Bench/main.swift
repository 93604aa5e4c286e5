import Glibc

signal(SIGPIPE, SIG_IGN)
holdEndSignals()
exit(runBench(Array(CommandLine.arguments.dropFirst())))
