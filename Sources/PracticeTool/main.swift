import Foundation

exit(PracticeTool.run(Array(CommandLine.arguments.dropFirst())))
