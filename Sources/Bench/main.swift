import Glibc

signal(SIGPIPE, SIG_IGN)
exit(runBench(Array(CommandLine.arguments.dropFirst())))
