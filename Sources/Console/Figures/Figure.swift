import API
import JSON

/// A figure: a table, with a sentence that explains what it counts.
struct Figure: Sendable {
    /// The figure's name in its address and file name.
    let name: StaticString
    let title: StaticString
    /// The sentence that explains what the figure counts.
    let sentence: String
    /// The sentence shown instead of an empty table.
    let empty: StaticString
    let columns: [String]
    /// The table's rows, as the text of each cell.
    let rows: @Sendable (JSON) -> [[String]]
    /// The total number of rows; `nil` for figures that list all of them.
    var count: (@Sendable (JSON) -> Int64)?

    static let all = [entitlements, products, ending, refunds]

    static let entitlements = Figure(
        name: "entitlements", title: "Active customers by entitlement",
        sentence:
            "Customers with access to the entitlement from any source, including grants and grace. A customer with two entitlements counts for each. Merged customers count once.",
        empty: "No customer has access to anything.",
        columns: ["Entitlement", "Now", "A week ago"], rows: { $0.active("entitlements") })

    static let products = Figure(
        name: "products", title: "Active customers by product",
        sentence:
            "Customers with the lasting purchase, or with a current paid period of the subscription that was not revoked. Blocked purchases, grants, grace, consumables and products that do not renew are left out. Family members count.",
        empty: "No customer has a subscription or a lasting purchase.",
        columns: ["Product", "Now", "A week ago"], rows: { $0.active("products") })

    static let ending = Figure(
        name: "ending", title: "Ending soon",
        sentence:
            "Access that ends within seven days, as far as the store has reported. A subscription that renews is included until the store reports its renewal.",
        empty: "No access ends within seven days.",
        columns: ["Customer", "Entitlement", "Ends"],
        rows: { $0.items("ending", ["customer", "entitlement", "ends"]) },
        count: { $0["ending"]?["count"]?.integer ?? 0 })

    static let refunds = Figure(
        name: "refunds", title: "Refunds of the last seven days",
        sentence:
            "Transactions that the store refunded in the last seven days, in full or in part. Access that family members lost is not counted.",
        empty: "Nothing was refunded in the last seven days.",
        columns: ["Transaction", "Customer", "Product", "Purchase", "Paid back"],
        rows: {
            $0.items("refunds", ["transaction", "customer", "product", "purchase", "at"])
        },
        count: { $0["refunds"]?["count"]?.integer ?? 0 })

    /// Returns the table as a CSV file.
    func file(_ answer: JSON) -> String { Figure.file(columns, rows(answer)) }

    static func file(_ columns: [String], _ rows: [[String]]) -> String {
        ([columns] + rows).map { cells in
            cells.map(cell).joined(separator: ",") + "\r\n"
        }.joined()
    }

    /// Returns a cell in quotes. A leading apostrophe keeps spreadsheets from interpreting text as a formula.
    private static func cell(_ text: String) -> String {
        // Compares scalars, because a quote and a combining mark after it form a single character.
        let scalars = text.unicodeScalars
        let isFormula = scalars.first.map { "=+-@\t\r".unicodeScalars.contains($0) } ?? false
        var quoted = String.UnicodeScalarView()
        for scalar in scalars { quoted += scalar == "\"" ? [scalar, scalar] : [scalar] }
        return "\"\(isFormula ? "'" : "")\(String(quoted))\""
    }
}

extension JSON {
    fileprivate func active(_ member: String) -> [[String]] {
        (self[member]?.array ?? []).map { row in
            [
                row["name"]?.string ?? "", String(row["now"]?.integer ?? 0),
                String(row["week_ago"]?.integer ?? 0),
            ]
        }
    }

    fileprivate func items(_ member: String, _ names: [String]) -> [[String]] {
        (self[member]?["items"]?.array ?? []).map { item in
            names.map { item[$0]?.string ?? "" }
        }
    }
}
