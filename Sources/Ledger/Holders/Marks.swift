import Core
import Crypto
import Postgres
import SQL

/// Identifies a purchase that may have been permanently erased.
struct MarkKey: Hashable, Sendable {
    let project: ProjectID
    let environment: Environment
    let mark: PurchaseMark

    init(_ purchase: PurchaseID, in stream: Stream) {
        project = stream.project
        environment = stream.environment
        mark = PurchaseMark(purchase, in: stream) { SHA256.digest($0).bytes }
    }

    static func lookUp(_ keys: Set<HolderKey>) -> Call {
        let marks = Set(
            keys.map { key in
                MarkKey(
                    key.purchase,
                    in: Stream(
                        project: key.project, environment: key.environment, customer: .noCustomer))
            })
        return Statement.loadErased(
            .texts(marks.map(\.project.text)), .texts(marks.map(\.environment.rawValue)),
            .texts(marks.map(\.mark.text)))
    }

    /// Reads a row of `load_erased`.
    init(_ rows: borrowing Rows, _ row: Int) throws(LedgerError) {
        guard let environment = Environment(rawValue: rows.text(row, 1)),
            let mark = PurchaseMark(rows.text(row, 2))
        else { throw .unreadable("the mark of an erased purchase") }
        project = try rows.identifier(row, 0)
        self.environment = environment
        self.mark = mark
    }
}
