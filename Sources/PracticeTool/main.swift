import Commands
import Foundation

exit(PracticeTool.program.run(Array(CommandLine.arguments.dropFirst())))
