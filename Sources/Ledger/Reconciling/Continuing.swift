package import Core
import Postgres
import SQL

extension Ledger {
    private static let continuingPage: Int64 = 500

    /// Returns unclaimed purchases that continue a customer's purchase, each with the facts that show this.
    package func continuing(
        of project: ProjectID
    ) throws(Fault) -> [(stream: Stream, facts: Facts)] {
        var found: [(stream: Stream, facts: Facts)] = []
        var place: [Bind] = [.text(""), .text(""), .text("")]
        while true {
            let call = Call(
                statement: .listContinuing,
                binds: [.text(project.text)] + place + [.int8(Ledger.continuingPage)])
            let rows = try list(call) { rows, row in
                (
                    key: (0..<3).map { rows.text(row, $0) },
                    isContinuing: rows.optionalText(row, 3) != nil
                )
            }
            let purchases = rows.filter(\.isContinuing).compactMap { row in
                stream(of: row.key, in: project)
            }
            found += try states(of: purchases)
            guard rows.count == Ledger.continuingPage, let last = rows.last else { return found }
            place = last.key.map(Bind.text)
        }
    }

    /// Returns the stream and the purchase that the key names; `nil` if the names are invalid, which the audit reports.
    private func stream(of key: [String], in project: ProjectID) -> (Stream, PurchaseID)? {
        guard let environment = Environment(rawValue: key[0]), let store = Store(rawValue: key[1]),
            let original = try? TransactionID(key[2])
        else { return nil }
        let purchase = PurchaseID(store: store, original: original)
        let stream = Stream(
            project: project, environment: environment, customer: .unclaimed(purchase))
        return (stream, purchase)
    }

    private func states(
        of purchases: [(Stream, PurchaseID)]
    ) throws(Fault) -> [(stream: Stream, facts: Facts)] {
        let states = try read(purchases.map(\.0))
        return zip(purchases, states).compactMap { purchase, state in
            let known = state.state?.purchase(purchase.1)?.evidence.compactMap(\.signed) ?? []
            var facts = Facts()
            facts.transactions = known.filter { $0.previous != nil }
            return facts.transactions.isEmpty ? nil : (purchase.0, facts)
        }
    }
}
