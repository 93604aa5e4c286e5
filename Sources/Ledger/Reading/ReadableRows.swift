import Core
import Postgres

/// A list that is read in pages and may contain damaged rows.
struct RowList<Item> {
    /// Requests up to the given number of rows after a place.
    let call: (_ place: [Bind], _ limit: Bind) -> Call
    /// The row's place in the list, exactly as stored.
    let place: (borrowing Rows, Int) -> [Bind]
    let subject: (borrowing Rows, Int) -> UnreadSubject
    let item: (borrowing Rows, Int) throws(LedgerError) -> Item
}

extension Ledger {
    /// Returns one item for each readable row. Unreadable rows are recorded and skipped.
    func readable<Item>(
        _ call: Call, over pool: Pool? = nil,
        of subject: (borrowing Rows, Int) -> UnreadSubject,
        _ item: (borrowing Rows, Int) throws(LedgerError) -> Item
    ) throws(Fault) -> [Item] {
        try list(call, over: pool) { rows, row throws(LedgerError) in
            try rows.readable(row, unread, subject, item)
        }.compactMap(\.self)
    }

    /// Returns up to `limit` items after a place. Unreadable rows are recorded and replaced by later ones, so fewer
    /// items mean the end of the list.
    func page<Item>(
        after place: [Bind], limit: Int, over pool: Pool? = nil, _ listed: RowList<Item>
    ) throws(Fault) -> [Item] {
        var (items, place) = ([Item](), place)
        while items.count < limit {
            let asked = limit - items.count
            let call = listed.call(place, .int8(Int64(asked)))
            var last: [Bind]?
            let rows = try list(call, over: pool) { rows, row throws(LedgerError) in
                if row == rows.count - 1 { last = listed.place(rows, row) }
                return try rows.readable(row, unread, listed.subject, listed.item)
            }
            items += rows.compactMap(\.self)
            guard rows.count == asked, let last else { break }
            place = last
        }
        return items
    }
}

extension Rows {
    /// Returns the row's item. If the row is unreadable, records it and returns `nil`.
    func readable<Item>(
        _ row: Int, _ unread: UnreadStreams, _ subject: (borrowing Rows, Int) -> UnreadSubject,
        _ item: (borrowing Rows, Int) throws(LedgerError) -> Item
    ) throws(LedgerError) -> Item? {
        do throws(LedgerError) {
            return try item(self, row)
        } catch {
            let fault = error.fault
            guard case .unreadable = fault else { throw error }
            unread.note(subject(self, row), fault)
            return nil
        }
    }
}
