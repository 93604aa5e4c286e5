import API
import Commands
import Core
import JSON
import Service

extension Option {
    /// The flags of commands that can be rehearsed or can require certain versions.
    static let terms = [
        flag("dry-run", "only show what would change"),
        value(
            "if-version", "VERSION",
            "only if the customer is at this version; for two customers, give both, as in 12,7"),
    ]
}

extension Invocation {
    /// Returns the terms of a command that concerns the given number of customers.
    func terms(concerning customers: ClosedRange<Int> = 1...1) throws(CommandEnd) -> Terms {
        guard let text = self["if-version"] else { return Terms(isRehearsal: has("dry-run")) }
        let versions = text.split(separator: ",", omittingEmptySubsequences: false).map {
            Int64($0).flatMap { $0 < 0 ? nil : $0 }
        }
        guard customers.contains(versions.count), !versions.contains(nil) else {
            throw usage(
                customers == 1...1
                    ? "--if-version takes a customer's version like 12"
                    : "--if-version takes the versions of both customers, like 12,7: first that of "
                        + "the present holder, then that of the new one")
        }
        return Terms(isRehearsal: has("dry-run"), versions: versions.compactMap(\.self))
    }

    /// Fulfils or rehearses the wish, and prints the result.
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
        let isOfBoth = Set(sides.map(\.stream.environment)).count > 1
        return
            (["Nothing was done. The command would change:"]
            + sides.map { $0.text(withEnvironment: isOfBoth) }).joined(separator: "\n")
    }
}

extension RehearsalAnswer.Side {
    /// Returns a rehearsal's changes for a person at a terminal.
    fileprivate func text(withEnvironment isTold: Bool) -> String {
        var lines: [String] = []
        let (old, new) = (before.entitlements.all, after.entitlements.all)
        for change in AnswerChange.all(from: old, to: new) {
            lines.append(
                "  \(change.entitlement)   \(change.before.words)   ->   \(change.after.words)")
        }
        let currencies = Set(after.balances.currencies + before.balances.currencies)
        for currency in currencies.sorted()
        where before.balances[currency] != after.balances[currency] {
            lines.append(
                "  \(currency)   \(before.balances[currency])   ->   \(after.balances[currency])")
        }
        if lines.isEmpty { lines = ["  no answer"] }
        let place = isTold ? ", \(stream.environment)" : ""
        return (["\(stream.customer) (version \(version)\(place))"] + lines).joined(separator: "\n")
    }
}

extension Entitlement? {
    fileprivate var words: String {
        guard let self else { return "never held" }
        let end = self.run.end.map { "until \($0.text)" } ?? "with no end"
        return "\(self.state.rawValue) since \(self.run.start.text), \(end)"
    }
}
