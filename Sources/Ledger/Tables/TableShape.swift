import Core

/// The cells of a row, in the order of its table's columns.
typealias Row = [Cell]

/// A table's name, its columns, and the index by which its rows are found.
struct TableShape: Sendable {
    /// Where rows are stored.
    enum Kind {
        /// In the customer's shard.
        case ofCustomers
        /// Under names that are unique in a project and environment, regardless of the customer's shard.
        case ofNames
        case ofProjects
    }
    let name: String
    let kind: Kind
    let columns: [Column]
    /// The key's columns in index order.
    let order: [Column]

    init(_ name: StaticString, _ columns: [Column], key: [StaticString]) {
        self.name = "\(name)"
        self.columns = columns
        kind =
            switch columns.prefix(2).map(\.name) {
            case ["shard", "project"]: .ofCustomers
            case ["project", "environment"]: .ofNames
            default: .ofProjects
            }
        order = key.map { name in
            guard let column = columns.first(where: { $0.name == "\(name)" }) else {
                preconditionFailure("\(name) of the key is no column")
            }
            return column
        }
    }

    var key: [Column] { Array(columns.prefix(order.count)) }

    /// The key, with the row's owner if the key does not include it.
    var identity: [Column] { key + columns.dropFirst(order.count).prefix(while: \.isOwner) }

    /// The columns by which a stream's rows are found; `nil` if no index has them.
    var path: [Column]? {
        switch kind {
        case .ofCustomers: Array(columns.prefix(4))
        case .ofProjects: columns.filter { $0.name == "project" }
        case .ofNames:
            if let owner = columns.first(where: \.isOwner) {
                owner.isIndexed ? columns.prefix(2) + [owner] : nil
            } else {
                // An unclaimed purchase's rows are found by the purchase, because its keeper has the purchase's name.
                columns.filter { Self.keeper.contains($0.name) }
            }
        }
    }
    private static let keeper = ["project", "environment", "store", "original"]

    /// Returns the first cells in a stream's rows.
    func lead(of stream: Stream) -> Row {
        let names: Row = [.text(stream.project.text), .text(stream.environment.rawValue)]
        return switch kind {
        case .ofCustomers:
            [.number(Int64(stream.shard.number))] + names + [.text(stream.customer.text)]
        case .ofNames: names
        case .ofProjects: []
        }
    }

    /// Returns the cells by which a stream's rows are found; `nil` if the stream cannot have rows.
    func path(of stream: Stream) -> Row? {
        let lead = lead(of: stream)
        if kind == .ofCustomers { return lead }
        if kind == .ofProjects { return [.text(stream.project.text)] }
        if columns.contains(where: \.isOwner) { return lead + [.text(stream.customer.text)] }
        return stream.keptPurchase.map {
            lead + [.text($0.store.rawValue), .text($0.original.text)]
        }
    }
}

extension Stream {
    /// The purchase kept by this reserved customer.
    fileprivate var keptPurchase: PurchaseID? {
        let prefix = CustomerID.noCustomer.text
        return customer.text.hasPrefix(prefix)
            ? PurchaseID(String(customer.text.dropFirst(prefix.count))) : nil
    }
}
