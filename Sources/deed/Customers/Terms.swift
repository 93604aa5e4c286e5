import API
import Commands
import Core
import JSON
import Service

extension Option {
    /// What commands take that can be rehearsed, and bound to versions of customers.
    static let terms = [
        flag("dry-run", "only show what would change, and do nothing"),
        value(
            "if-version", "VERSION",
            "only if the customer has this version; of two customers both, as in 12,7"),
    ]
}

extension Invocation {
    /// The terms of a command about that number of customers.
    func terms(concerning customers: ClosedRange<Int> = 1...1) throws(CommandEnd) -> Terms {
        guard let text = self["if-version"] else { return Terms(isRehearsal: has("dry-run")) }
        let versions = text.split(separator: ",", omittingEmptySubsequences: false).map {
            Int64($0).flatMap { $0 < 0 ? nil : $0 }
        }
        guard customers.contains(versions.count), !versions.contains(nil) else {
            throw usage(
                customers == 1...1
                    ? "--if-version takes a customer's version like 12"
                    : "--if-version takes the versions of both customers like 12,7: of who holds the purchase, "
                        + "and of who is to hold it")
        }
        return Terms(isRehearsal: has("dry-run"), versions: versions.compactMap(\.self))
    }

    /// Has the wish fulfilled on those terms, and shows what came of it.
    func fulfil<Answer>(
        _ wish: Wish<Answer>, on terms: Terms, _ useCases: UseCases,
        _ words: (Answer) -> (JSON, String)
    ) throws(CommandEnd) {
        let wish = wish.requiring(terms.versions)
        if terms.isRehearsal {
            let answer = try useCases.fulfil(useCases.customers.rehearsing(wish))
            show(answer.json, text: answer.text)
        } else {
            let (json, text) = words(try useCases.fulfil(wish))
            show(json, text: text)
        }
    }
}

extension RehearsalAnswer {
    fileprivate var text: String {
        (["Nothing was done. It would change:"] + sides.map(\.text)).joined(separator: "\n")
    }
}

extension RehearsalAnswer.Side {
    /// What would differ, for a person at a terminal.
    fileprivate var text: String {
        var lines: [String] = []
        let (old, new) = (before.entitlements.all, after.entitlements.all)
        for change in AnswerChange.all(from: old, to: new) {
            lines.append(
                "  \(change.entitlement)   \(change.before.words)   ->   \(change.after.words)")
        }
        for currency in after.balances.currencies
        where before.balances[currency] != after.balances[currency] {
            lines.append(
                "  \(currency)   \(before.balances[currency])   ->   \(after.balances[currency])")
        }
        if lines.isEmpty { lines = ["  no answer"] }
        return (["\(stream.customer) (version \(version))"] + lines).joined(separator: "\n")
    }
}

extension Entitlement? {
    fileprivate var words: String {
        guard let self else { return "never held" }
        let end = self.run.end.map { "until \($0.text)" } ?? "with no end"
        return "\(self.state.rawValue) since \(self.run.start.text), \(end)"
    }
}
