import API
import Commands
import Core
import JSON
import Service

/// Erases many customers, and tells about each.
struct ErasureCourse {
    private let erasures: Erasures
    private let useCases: UseCases
    private let isDryRun: Bool
    private let isJSON: Bool
    private var refused = 0
    private var count = 0

    init(_ erasures: Erasures, _ useCases: UseCases, isDryRun: Bool, isJSON: Bool) {
        self.erasures = erasures
        self.useCases = useCases
        self.isDryRun = isDryRun
        self.isJSON = isJSON
    }

    /// Prints a line for each customer, and goes on behind one that is unknown or erased already.
    mutating func erase(_ request: ErasureRequest, by sender: Sender) throws(CommandEnd) {
        do throws(CommandError) {
            if isDryRun {
                let look = try erasures.look(request)
                let events = look.sides.reduce(0) { $0 + $1.kept["events"] }
                tell(request, "would be erased: \(events) events")
            } else {
                _ = try useCases.ledger.perform(erasures.erasing(request, by: sender))
                tell(request, "erased")
            }
        } catch {
            switch error {
            case .refused(.alreadyErased): tell(request, "erased already")
            case .refused(let refusal):
                refused += 1
                tell(request, refusal.code)
            case .fault(let fault): throw CommandEnd(fault)
            }
        }
    }

    mutating func tell(_ request: ErasureRequest, _ outcome: String) {
        count += 1
        let customer = request.customer.text
        let json: JSON = ["customer": .string(customer), "outcome": .string(outcome)]
        printText(isJSON ? json.text : "\(customer)   \(outcome)".withVisibleControls)
    }

    func end() throws(CommandEnd) {
        if isDryRun, !isJSON { printText("Nothing was done; do it with: --yes") }
        if refused == 0 { return }
        throw .refused(
            code: "some_refused",
            sentence: "\(refused) of \(count) customers were not erased; the lines above say why.")
    }
}

/// An erasure as `deed customer erased --list --json` prints it.
struct ListedErasure {
    let request: ErasureRequest
    private let position: String
    private let erasedAt: String

    init?(_ line: String) {
        guard let json = try? JSON.read(line), let position = json["position"]?.string,
            let erasedAt = json["erased_at"]?.string,
            let project = json["project"]?.string.flatMap({ try? ProjectID($0) }),
            let customer = json["customer"]?.string.flatMap({ try? CustomerID($0) }),
            !customer.isReserved,
            let environment = json["environment"]?.string.flatMap(Environment.init(rawValue:)),
            let reason = json["reason"]?.string.flatMap({ try? Reason($0) }),
            let treatment = json["purchases"]?.string.flatMap(PurchaseTreatment.init(rawValue:))
        else { return nil }
        let ticket = json["ticket"]?.string.flatMap { try? Ticket($0) }
        let marks = json["marks"]?.array?.map { $0.string.flatMap { PurchaseMark($0) } } ?? []
        if marks.contains(nil) { return nil }
        self.position = position
        self.erasedAt = erasedAt
        request = ErasureRequest(
            customer, in: project, environment, reason: AdminReason(reason: reason, ticket: ticket),
            treatment: treatment, intent: nil, lost: marks.compactMap(\.self))
    }

    /// Whether the log still has it.
    func isSame(_ recorded: RecordedEvent) -> Bool {
        "\(recorded.position)" == position && recorded.recordedAt.text == erasedAt
    }

    /// The same at every attempt.
    var key: String { "again:\(position)/\(erasedAt)" }
}

extension ErasureLook {
    var text: String {
        let lines = sides.flatMap(\.lines)
        return
            (["Nothing was done. The erasure of \(customer) would take away:"] + lines + [
                "It cannot be undone. To do it, repeat the command within 15 minutes with: --intent \(intent.text)"
            ]).joined(separator: "\n")
    }
}

extension ErasureLook.Side {
    fileprivate var lines: [String] {
        let counts = kept.all.filter { $0.count > 0 }.map { "\($0.count) \($0.kind)" }
        var lines = ["  \(stream.environment): " + counts.joined(separator: ", ")]
        if !ending.isEmpty {
            lines.append("    rights that end: " + ending.map(\.text).joined(separator: ", "))
        }
        if !renewing.isEmpty {
            let names = renewing.map(\.description).joined(separator: ", ")
            lines.append("    the store goes on charging for: \(names)")
        }
        return lines
    }
}

extension ErasureAnswer {
    var text: String {
        let places = erasures.map { "\($0.stream.environment)" }.joined(separator: " and ")
        return "\(customer) was erased in \(places)."
            + (isEmptied ? "" : " A service that runs empties the rest.")
    }
}

extension ErasedAnswer {
    var text: String {
        sides.flatMap { side in
            side.erasures.compactMap(\.erasureJSON).map(\.erasureLine) + [side.state]
        }.joined(separator: "\n")
    }
}

extension ErasedAnswer.Side {
    fileprivate var state: String {
        let rest = left.all.filter { $0.count > 0 }.map { "\($0.count) \($0.kind)" }
        return "  \(stream.environment): "
            + (rest.isEmpty ? "nothing is left" : "left: " + rest.joined(separator: ", "))
            + (livesAgain ? "; a new life has begun since" : "")
    }
}

extension JSON {
    /// An erasure, as one line for people.
    var erasureLine: String {
        func word(_ name: String) -> String { self[name]?.string ?? "" }
        let ticket = self["ticket"]?.string.map { " (\($0))" } ?? ""
        return
            "\(word("erased_at"))   \(word("customer"))   \(word("environment"))   by \(word("by"))   "
            + "purchases: \(word("purchases"))   \(word("reason"))\(ticket)"
    }
}
