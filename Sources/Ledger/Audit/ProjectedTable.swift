import Core
import Crypto
import JSON
import Postgres
import SQL

/// A table that follows from the log: how its rows are named, compared and read.
struct ProjectedTable: Sendable {
    let name: String
    /// In the order in which the statement that writes them takes them.
    let columns: [String]
    /// How many of them tell rows apart.
    let keys: Int
    /// Which of the columns name the stream whose events the row follows from: project, environment and
    /// customer.
    let stream: [Int]
    /// Which columns name the purchase whose keeper that customer is.
    var keeper: (store: Int, original: Int)?
    /// Reads the rows of some customers, or of all projects, each column as text.
    let reading: Statement
    /// Walks through all rows, and gives some: of tables whose rows no customer's page leads to.
    var walking: Statement?
    var sampling: Statement?

    static let customers = ProjectedTable(
        name: "deed.customers",
        columns: stream + [
            "version", "catalog_version", "runs", "next_boundary_at",
            "app_transactions", "answer_by", "inquiry_at",
        ], keys: 4,
        stream: [1, 2, 3], reading: .auditCustomers)
    static let purchases = ProjectedTable(
        name: "deed.purchases",
        columns: stream + [
            "store", "original", "app", "kind", "product", "purchased_at", "expires_at",
            "revoked_at", "is_upgraded", "will_renew", "next_product", "in_billing_retry",
            "grace_until", "transactions",
        ], keys: 6, stream: [1, 2, 3], reading: .auditPurchases)
    static let balances = ProjectedTable(
        name: "deed.customer_balances", columns: stream + ["currency", "amount"], keys: 5,
        stream: [1, 2, 3], reading: .auditBalances)
    static let orders = ProjectedTable(
        name: "deed.orders",
        columns: stream + [
            "order_id", "token", "product", "opened_at", "expires_at", "fulfilled_by", "closed_at",
            "closed_because",
        ], keys: 5, stream: [1, 2, 3], reading: .auditOrders)
    static let orderOwners = ProjectedTable(
        name: "deed.order_owners", columns: ["project", "environment", "order_id", "customer"],
        keys: 3, stream: [0, 1, 3], reading: .auditOrderOwners, walking: .walkOrderOwners,
        sampling: .sampleOrderOwners)
    static let tokens = ProjectedTable(
        name: "deed.tokens", columns: ["project", "environment", "token", "customer"], keys: 3,
        stream: [0, 1, 3], reading: .auditTokens, walking: .walkTokens, sampling: .sampleTokens)
    static let holders = ProjectedTable(
        name: "deed.holders",
        columns: ["project", "store", "environment", "app", "original", "customer"], keys: 5,
        stream: [0, 2, 5], reading: .auditHolders, walking: .walkHolders,
        sampling: .sampleHolders)
    /// Of what waits, the customer is the reserved one that keeps it.
    static let unclaimed = ProjectedTable(
        name: "deed.unclaimed", columns: ["project", "environment", "store", "original", "app"],
        keys: 4, stream: [0, 1], keeper: (store: 2, original: 3), reading: .auditUnclaimed,
        walking: .walkUnclaimed, sampling: .sampleUnclaimed)
    static let unclaimedTokens = ProjectedTable(
        name: "deed.unclaimed_tokens",
        columns: ["project", "environment", "token", "store", "original", "app"], keys: 5,
        stream: [0, 1], keeper: (store: 3, original: 4), reading: .auditUnclaimedTokens,
        walking: .walkUnclaimedTokens, sampling: .sampleUnclaimedTokens)
    static let carriedTokens = ProjectedTable(
        name: "deed.carried_tokens",
        columns: ["project", "environment", "token", "store", "original", "app", "customer"],
        keys: 5, stream: [0, 1, 6], reading: .auditCarriedTokens, walking: .walkCarriedTokens,
        sampling: .sampleCarriedTokens)
    static let waitingCredits = ProjectedTable(
        name: "deed.waiting_credits",
        columns: stream + ["store", "original", "transaction_id", "product"], keys: 7,
        stream: [1, 2, 3], reading: .auditWaitingCredits)
    static let projects = ProjectedTable(
        name: "deed.projects",
        columns: [
            "project", "created_at", "catalog_version", "reconciled_at",
            "is_sound", "requested_at",
        ], keys: 1,
        stream: [], reading: .auditProjects)
    static let keys = ProjectedTable(
        name: "deed.keys",
        columns: ["digest", "project", "key_id", "role", "name", "created_at", "revoked_at"],
        keys: 1, stream: [], reading: .auditKeys)
    static let apps = ProjectedTable(
        name: "deed.apps",
        columns: ["store", "app", "project", "apple_id", "receipts", "counts_sandbox"], keys: 2,
        stream: [], reading: .auditApps)

    /// Whose names are unique beyond the shards.
    static let ofNames = [
        holders, orderOwners, tokens, unclaimed, unclaimedTokens, carriedTokens,
    ]

    private static let stream = ["shard", "project", "environment", "customer"]

    /// By the name of the statement that writes the rows.
    private static let written: [String: ProjectedTable] = Dictionary(
        uniqueKeysWithValues: [
            (Statement.reprojectCustomers, customers), (.projectPurchases, purchases),
            (.projectBalances, balances), (.projectOrders, orders),
            (.projectOrderOwners, orderOwners),
            (.projectTokens, tokens), (.projectProjects, projects), (.projectKeys, keys),
            (.projectApps, apps), (.claimPurchases, holders), (.projectUnclaimed, unclaimed),
            (.awaitFreeTokens, unclaimedTokens), (.carryTokens, carriedTokens),
            (.projectWaitingCredits, waitingCredits),
        ].map { ($0.name, $1) })

    /// What tells the row from others, for people: a key by the id that lists show.
    func name(of row: ProjectedRow) -> String {
        let shown = name == ProjectedTable.keys.name ? Array(0..<3) : Array(0..<keys)
        return shown.map { "\(columns[$0]) \(row.values[$0] ?? "null")" }.joined(separator: ", ")
    }

    /// A value of a column, for people.
    func text(_ value: String?, of column: String) -> String {
        guard let value else { return "null" }
        let isInstant =
            column.hasSuffix("_at") || column == "grace_until"
        guard isInstant, let milliseconds = Int64(value) else { return value }
        return Instant(milliseconds: milliseconds).text
    }

    /// The stream whose events the row follows from.
    func stream(of row: ProjectedRow) throws(LedgerError) -> Stream {
        let customer =
            if let keeper {
                "\(CustomerID.noCustomer)\(row.values[keeper.store] ?? ""):"
                    + (row.values[keeper.original] ?? "")
            } else {
                row.values[stream[2]] ?? ""
            }
        return try Stream(
            project: row.values[stream[0]] ?? "", environment: row.values[stream[1]] ?? "",
            customer: customer)
    }

    /// The rows that the calls would write, by table and key.
    static func rows(of calls: [Call]) -> [String: [[String]: ProjectedRow]] {
        var rows: [String: [[String]: ProjectedRow]] = [:]
        for call in calls {
            guard let table = written[call.statement.name] else { continue }
            for row in call.rows {
                let row = ProjectedRow(row, of: table)
                rows[table.name, default: [:]][row.key] = row
            }
        }
        return rows
    }
}

/// A row with every column as text.
struct ProjectedRow {
    let key: [String]
    let values: [String?]

    init(_ values: [String?], of table: ProjectedTable) {
        key = values.prefix(table.keys).map { $0 ?? "" }
        self.values = values
    }

    init(_ rows: borrowing Rows, _ row: Int, of table: ProjectedTable) {
        var values: [String?] = []
        for column in table.columns.indices { values.append(rows.optionalText(row, column)) }
        self.init(values, of: table)
    }
}

extension Call {
    /// What its arrays say of each row, as PostgreSQL writes it.
    var rows: [[String?]] {
        let columns = binds.map(\.texts)
        guard let count = columns.first?.count else { return [] }
        return (0..<count).map { row in columns.map { $0[row] } }
    }
}

extension Bind {
    fileprivate var texts: [String?] {
        switch self {
        case .texts(let texts): texts
        case .int8s(let numbers): numbers.map(String.init)
        case .optionalInt8s(let numbers): numbers.map { $0.map(String.init) }
        case .int2s(let numbers): numbers.map { String($0) }
        case .byteas(let values): values.map { $0.map { "\\x" + $0.hex } }
        case .bools(let flags): flags.map { $0.map(String.init) }
        case .text, .int8, .int2, .bytea, .bool: []
        }
    }
}

/// The text of a JSON object whose members stand in order, or of a list, for texts that are kept as
/// `jsonb`.
func inOrder(_ text: String?) -> String? {
    guard let text, let json = try? JSON.read(text) else { return text }
    if case .array = json { return json.text }
    guard case .object(let object) = json else { return text }
    let members = object.members.sorted { $0.name < $1.name }.map { ($0.name, $0.value) }
    return members.map { "\($0): \($1.text)" }.joined(separator: ", ")
}
