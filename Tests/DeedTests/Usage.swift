import Testing

extension Installation {
    func expectUsage(of arguments: [String]) throws {
        let finished = try run(arguments)
        #expect(finished.code == 2)
        #expect(finished.errors.hasPrefix("error: "))
    }

    /// Expects a command's help to contain its usage and an example.
    func expectHelp(of command: String) throws {
        let finished = try run(command.split(separator: " ").map(String.init) + ["--help"])
        #expect(finished.code == 0)
        #expect(finished.output.contains("usage: deed \(command) "))
        #expect(finished.output.contains("example: deed \(command)"))
    }
}
