import Commands
import Practice

/// The program `deed-practice`.
enum PracticeTool {
    static let program = Program(
        name: "deed-practice",
        purpose:
            "deed-practice is a fake App Store and Google Play on this machine, to build against.",
        notes: """
            A step prints what a client app would hand to its back end. See docs/practice-store.md.

            """,
        commands: [serveCommand, rootsCommand] + Step.Act.allCases.map(CommandSpec.init) + [
            advanceCommand, showCommand, restoreCommand, livesCommand, troubleCommand,
        ])
}

extension Option {
    static let url = setting(
        "url", "URL", "the store's address", fallback: "http://127.0.0.1:9090", formerly: "store")
    static let customer = value("customer", "NAME", "the customer")
    static let dataDir = value(
        "data-dir", "FOLDER", "the folder for the store's state, its keys and shop.json",
        isRequired: true)
}

extension CommandEnd {
    static func refused(_ sentence: String) -> CommandEnd {
        .refused(code: "refused", sentence: sentence)
    }

    init(_ error: PracticeError) {
        switch error {
        case .invalid(let text): self = .usage(text)
        case .refused(let text): self = .refused(text)
        case .broken(let text): self = .fault(text)
        }
    }
}
