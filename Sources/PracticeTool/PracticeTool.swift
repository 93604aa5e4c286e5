import Foundation
import Glibc
import JSON
import Practice

/// From the words on the command line to an exit code.
enum PracticeTool {
    static let help = """
        deed-practice is a fake App Store on this machine, to build against.

        usage: deed-practice serve --data-dir FOLDER [--listen 127.0.0.1:9090] [--notify URL]
                   [--clock INSTANT] [--pace calendar|5m] [--seed NUMBER]
                   [--service-url URL --service-key FILE]
               deed-practice roots --data-dir FOLDER
               deed-practice <step> --customer NAME [--product ID] [--json] [--store URL]
               deed-practice advance 40d | show [--customer NAME] | restore --customer NAME
               deed-practice lives run FILE [--no-jump] | trouble '{"drop":0.1,"seed":7}'

        serve      runs the store; FOLDER/roots holds the roots that Deed must trust,
                   FOLDER/keys the key for the server API, FOLDER/shop.json what is sold
          --notify   where notifications go, as http://127.0.0.1:8080/v1/stores/apple/notifications
          --clock    a test clock that stands there until it is advanced; without it, the machine's
          --pace     how long a month lasts: as the calendar says, or shortened as in a sandbox
          --service-url  a Deed with a test clock, which follows the store's clock;
                     --service-key, or DEED_PRACTICE_SERVICE_KEY, is an admin key of it
        roots      makes the folder with its roots, for a Deed that starts first
        steps      \(stepNames)
          --offer ID --quantity N --token UUID --ask          of buy
          --transaction ID --percent N --prorated --for-app   of refund and reverse
          --days N of extend, --with NAME of share and unshare, --version V of install,
          --price N --needs-consent of raise-price
        advance    moves the clock forward and does everything that falls due at its own instant
        show       what was bought, how it stands, and what was notified
        restore    what an app hands over on a new phone: all of it, and a refreshed receipt
        lives run  runs the lives of a scenario file; see docs/practice-store.md
        trouble    what goes wrong from now on, by rate and seed; '{}' ends it

        deed-practice <command> --help says what one of them takes.
        Each step prints what a client app would hand to its back end; with --json, as JSON.
        The store is http://127.0.0.1:9090, or --store, or DEED_PRACTICE_STORE.
        Exit codes: 0 done, 1 refused, 2 wrong usage, 3 fault.
        """

    private static var stepNames: String {
        Step.Act.allCases.map { dashed($0.rawValue) }.joined(separator: ", ")
            .replacing(", change, ", with: ", change,\n                   ")
            .replacing(", extend, ", with: ", extend,\n                   ")
            .replacing(", set-token, ", with: ", set-token,\n                   ")
    }

    static func dashed(_ name: String) -> String { name.replacing("_", with: "-") }

    static func run(_ words: [String]) -> Int32 {
        signal(SIGPIPE, SIG_IGN)
        do throws(ToolEnd) {
            guard let name = words.first else {
                throw .usage("no command is given; see: deed-practice --help")
            }
            if words.contains("--help") || name == "help" {
                let command = words.first { !$0.hasPrefix("-") && $0 != "help" }
                write(command.flatMap(help(of:)) ?? help)
                return 0
            }
            let rest = Array(words.dropFirst())
            switch name {
            case "serve": try serve(rest)
            case "roots": try roots(rest)
            case "advance": try advance(rest)
            case "show": try show(rest)
            case "restore": try restore(rest)
            case "trouble": try trouble(rest)
            case "lives": try lives(rest)
            default: try step(name, rest)
            }
            return 0
        } catch {
            complain(error)
            return error.exitCode
        }
    }

    static func complain(_ end: ToolEnd) {
        FileHandle.standardError.write(Data("error: \(end.sentence)\n".utf8))
    }

    static func write(_ text: String) {
        // A reader that goes away, as in `deed-practice show | head -1`, is not a reason to die noisily.
        try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    }
}
