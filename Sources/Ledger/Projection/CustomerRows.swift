import Core
import JSON
import Postgres
import SQL

/// Rows of `deed.customers`.
struct CustomerRows {
    private struct Row {
        let stream: Stream
        let version: Int64
        let catalogVersion: Int64
        let runs: String
        let nextBoundary: Instant?
        let appTransactions: String?
        let answerBy: Instant?
        let inquiryAt: Instant?
    }
    private var rows: [Row] = []
    /// Whether everything else of these customers is written too, by the same catalog.
    var areWhole = false

    mutating func add(
        _ customer: CustomerState, of stream: Stream, by project: ProjectState
    ) {
        let runs = customer.runs(by: project.catalog)
        let isPublished = !stream.customer.isReserved
        rows.append(
            Row(
                stream: stream, version: customer.version, catalogVersion: project.catalogVersion,
                runs: runsText(runs),
                nextBoundary: isPublished ? customer.nextBoundary(of: runs, in: project) : nil,
                appTransactions: customer.appTransactions.jsonText, answerBy: customer.answerBy,
                inquiryAt: customer.inquiryAt))
    }

    var calls: [Call] {
        if rows.isEmpty { return [] }
        let statement = areWhole ? Statement.reprojectCustomers : Statement.projectCustomers
        return [
            statement(
                rows.map(\.stream), .int8s(rows.map(\.version)),
                .int8s(rows.map(\.catalogVersion)), .texts(rows.map(\.runs)),
                .optionalInt8s(rows.map { $0.nextBoundary?.milliseconds }),
                .texts(rows.map(\.appTransactions)),
                .optionalInt8s(rows.map { $0.answerBy?.milliseconds }),
                .optionalInt8s(rows.map { $0.inquiryAt?.milliseconds }))
        ]
    }
}

extension [AppTransactionID] {
    /// `["704…"]`, and nothing where there is none.
    fileprivate var jsonText: String? {
        isEmpty ? nil : JSON.array(map { .string($0.text) }).text
    }
}

/// `{"pro":"{[1,2),[3,)}"}`: each value is an int8multirange of PostgreSQL.
private func runsText(_ runs: [EntitlementID: [Interval]]) -> String {
    var text: [UInt8] = [UInt8(ascii: "{")]
    text.reserveCapacity(64 * runs.count + 2)
    for (entitlement, intervals) in runs.sorted(by: { $0.key < $1.key }) {
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        JSON.write(entitlement.text, to: &text)
        text.append(contentsOf: ":\"{".utf8)
        var separator = "["
        for interval in intervals where !interval.isEmpty {
            text.append(contentsOf: separator.utf8)
            text.append(contentsOf: String(interval.start.milliseconds).utf8)
            text.append(UInt8(ascii: ","))
            if let end = interval.end {
                text.append(contentsOf: String(end.milliseconds).utf8)
            }
            text.append(UInt8(ascii: ")"))
            separator = ",["
        }
        text.append(contentsOf: "}\"".utf8)
    }
    text.append(UInt8(ascii: "}"))
    return String(decoding: text, as: UTF8.self)
}
