import API
import Commands
import Core
import JSON
import Service
import Wording

/// The erasure of many customers, with a result for each.
struct ErasureCourse {
    private let erasures: Erasures
    private let useCases: UseCases
    private let isDryRun: Bool
    private let isJSON: Bool
    private var waiting = WaitingPurchases()
    private var refused = 0
    private var count = 0

    init(_ useCases: UseCases, isDryRun: Bool, isJSON: Bool) {
        erasures = useCases.erasures
        self.useCases = useCases
        self.isDryRun = isDryRun
        self.isJSON = isJSON
    }

    /// Erases the customers and prints a line for each. Continues with the next one if a customer cannot be erased.
    mutating func erase(_ request: ErasureRequest, by sender: Sender) throws(CommandEnd) {
        let line = Line(request)
        do throws(CommandError) {
            try attempt(request, by: sender, line)
        } catch {
            try tell(error, line)
        }
    }

    /// Repeats an erasure that a restored log may have lost.
    mutating func `repeat`(
        _ listed: ListedErasure, among others: Set<CustomerID>, by actor: Actor
    ) throws(CommandEnd) {
        let line = Line(listed)
        do throws(CommandError) {
            if let outcome = try settled(listed) { return tell(line, outcome) }
            var request = listed.request
            request.waiting = try waiting.known(by: listed, useCases)
            try attempt(request, by: Sender(actor: actor, idempotencyKey: listed.key), line)
        } catch {
            switch error {
            case .refused(.customerUnknown): tell(line, "nothing to erase")
            case .refused(.customerMerged(_, let whole)) where others.contains(whole):
                tell(line, "is erased with \(whole)")
            default: try tell(error, line)
            }
        }
    }

    /// Returns the outcome if the erasure need not be repeated.
    private mutating func settled(_ listed: ListedErasure) throws(CommandError) -> String? {
        let request = listed.request
        let project = try rethrowing(
            as: CommandError.fault, useCases.ledger.project(request.project))
        if !project.exists { throw .refused(.projectUnknown(request.project)) }
        let known = try rethrowing(
            as: CommandError.fault,
            erasures.all(in: request.project, of: request.customer))
        if known.contains(where: listed.isSame) || known.contains(where: listed.isRepeated) {
            return "erased already"
        }
        guard let life = try erasures.life(of: request, after: listed.erasedAt) else { return nil }
        if life.lost?.isEmpty != false { return "nothing to erase" }
        refused += 1
        return "lives_again"
    }

    private mutating func attempt(
        _ request: ErasureRequest, by sender: Sender, _ line: Line
    ) throws(CommandError) {
        if isDryRun {
            let look = try erasures.look(request)
            return tell(line, look.outcome, look)
        }
        _ = try useCases.ledger.perform(erasures.erasing(request, by: sender))
        tell(line, "erased")
    }

    private mutating func tell(_ error: CommandError, _ line: Line) throws(CommandEnd) {
        switch error {
        case .refused(.erasure(.erasedAlready)): tell(line, "erased already")
        case .refused(let refusal):
            refused += 1
            tell(line, refusal.code)
        case .fault(let fault) where fault.isOfWholeDatabase: throw CommandEnd(fault)
        case .fault(let fault):
            refused += 1
            tell(line, "failed: \(fault.withRemedy)")
        }
    }

    private mutating func tell(_ line: Line, _ outcome: String, _ look: ErasureLook? = nil) {
        count += 1
        var json = line.json.with("outcome", .string(outcome))
        if let look { json = json.with("environments", look.json["environments"]) }
        printText(isJSON ? json.text : "\(line.text)   \(outcome)".withVisibleControls)
    }

    /// Empties the remaining contents, including those of an earlier run that was killed.
    func end() throws(CommandEnd) {
        if isDryRun {
            if !isJSON { printText("Nothing was done; to erase, add: --yes") }
        } else if !(try ask(erasures.emptyRest())) {
            throw .refused(
                code: "erasure_unfinished",
                sentence:
                    "Some contents of erased customers are left, because the database was busy with them. A "
                    + "running service deletes them, and so does this command when it is repeated."
            )
        }
        if refused == 0 { return }
        throw .refused(
            code: "some_refused",
            sentence:
                "\(refused) of \(count) lines \(isDryRun ? "cannot be" : "were not") erased; each line says why."
        )
    }
}

/// The beginning of a line of the result, as text and JSON. It names what the line is about.
private struct Line {
    let text: String
    let json: JSON

    init(_ request: ErasureRequest) {
        text = request.customer.text
        json = ["customer": .string(text)]
    }

    init(_ listed: ListedErasure) {
        let request = listed.request
        let environment = request.environments.map(\.rawValue).joined(separator: ",")
        text = "\(request.customer)   \(request.project), \(environment)"
        json = [
            "project": .string(request.project.text), "environment": .string(environment),
            "customer": .string(request.customer.text),
        ]
    }
}

/// Purchases in a restored log that wait for a customer, by the marks that their erasure left. The
/// log is read for them only once.
private struct WaitingPurchases {
    private struct Place: Hashable {
        let project: ProjectID
        let environment: Core.Environment
    }
    private var all: [Place: [PurchaseMark: PurchaseID]] = [:]

    mutating func known(
        by listed: ListedErasure, _ useCases: UseCases
    ) throws(CommandError) -> [PurchaseID] {
        let marks = listed.request.lost ?? []
        guard !marks.isEmpty, let environment = listed.request.environments.first else { return [] }
        let place = Place(project: listed.request.project, environment: environment)
        if all[place] == nil { all[place] = try WaitingPurchases.read(place, useCases) }
        return Set(marks.compactMap { all[place]?[$0] }).sorted()
    }

    private static func read(
        _ place: Place, _ useCases: UseCases
    ) throws(CommandError) -> [PurchaseMark: PurchaseID] {
        var found: [PurchaseMark: PurchaseID] = [:]
        var last: PurchaseID?
        repeat {
            let page = try useCases.unclaimed.list(
                of: place.project, in: place.environment, after: last, limit: 500)
            for one in page.purchases {
                let kept = one.stream.customer.unclaimed ?? one.purchase.id
                for name in one.purchase.allIDs {
                    found[useCases.erasures.mark(of: name, in: one.stream)] = kept
                }
            }
            last = page.next
        } while last != nil
        return found
    }
}

extension ErasureLook {
    fileprivate var outcome: String {
        let parts = Set(sides.map(\.stream.customer)).subtracting([customer]).sorted()
        let found: [(words: String, names: [String])] = [
            ("rights end", Set(sides.flatMap(\.ending)).sorted().map(\.text)),
            ("the store keeps charging for", sides.flatMap(\.renewing).map(\.description)),
            ("goes along", parts.map(\.text)),
            ("purchases came from", Set(sides.flatMap(\.cameFrom)).sorted().map(\.text)),
        ]
        let events = sides.reduce(0) { $0 + $1.kept["events"] }
        return
            (["would be erased: \(events) events"]
            + found.filter { !$0.names.isEmpty }.map {
                "\($0.words): \($0.names.joined(separator: ", "))"
            }).joined(separator: "; ")
    }

    var text: String {
        let lines = sides.flatMap { $0.lines(besides: customer) }
        return
            (["Nothing was done. The erasure of \(customer) would take away:"] + lines + [
                "This cannot be undone. To erase, repeat the command within 15 minutes with: --intent \(intent.text)"
            ]).joined(separator: "\n")
    }
}

extension ErasureLook.Side {
    fileprivate func lines(besides customer: CustomerID) -> [String] {
        let other = stream.customer == customer ? "" : "\(stream.customer), merged into it, "
        let counts = kept.all.filter { $0.count > 0 }.map { "\($0.count) \($0.kind)" }
        var lines = ["  \(other)\(stream.environment): " + counts.joined(separator: ", ")]
        if !ending.isEmpty {
            lines.append("    rights that end: " + ending.map(\.text).joined(separator: ", "))
        }
        if !renewing.isEmpty {
            let names = renewing.map(\.description).joined(separator: ", ")
            lines.append("    the store keeps charging for: \(names)")
        }
        if !cameFrom.isEmpty {
            let names = cameFrom.map(\.text).joined(separator: ", ")
            lines.append(
                "    purchases came from \(names); erase that id too if it belongs to the same person"
            )
        }
        return lines
    }
}

extension ErasureAnswer {
    var text: String {
        let places = erasures.map { "\($0.stream.environment)" }.joined(separator: " and ")
        return "\(customer) was erased in \(places)."
            + (isEmptied ? "" : " A running service deletes the rest.")
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
            + (livesAgain ? "; the id has been used again since" : "")
    }
}

extension JSON {
    var erasureLine: String {
        func word(_ name: String) -> String { self[name]?.string ?? "" }
        let ticket = self["ticket"]?.string.map { " (\($0))" } ?? ""
        return
            "\(word("erased_at"))   \(word("customer"))   \(word("environment"))   by \(word("by"))   "
            + "purchases: \(word("purchases"))   \(word("reason"))\(ticket)"
    }
}
