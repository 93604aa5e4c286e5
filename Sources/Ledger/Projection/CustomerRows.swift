import Core
import JSON
import Postgres
import SQL

/// Rows of `deed.customers`.
struct CustomerRows {
    private struct Row {
        let stream: Stream
        let version: Int64
        let nextChange: Instant?
        let catalogVersion: Int64
        let runs: String
    }
    private var rows: [Row] = []

    mutating func add(
        _ customer: CustomerState, of stream: Stream, by project: ProjectState, now: Instant
    ) {
        let entitlements = customer.entitlements(at: now, catalog: project.catalog)
        rows.append(
            Row(
                stream: stream, version: customer.version, nextChange: entitlements.nextChange,
                catalogVersion: project.catalogVersion,
                runs: runsText(customer.runs(by: project.catalog))))
    }

    var calls: [Call] {
        if rows.isEmpty { return [] }
        return [
            Statement.projectCustomers(
                rows.map(\.stream), .int8s(rows.map(\.version)),
                .int8s(rows.map { $0.nextChange?.milliseconds }),
                .int8s(rows.map(\.catalogVersion)), .texts(rows.map(\.runs)))
        ]
    }
}

/// `{"pro":"{[1,2),[3,)}"}`: each value is an int8multirange of PostgreSQL.
private func runsText(_ runs: [EntitlementID: [Interval]]) -> String {
    var object = JSONObject()
    for (entitlement, intervals) in runs.sorted(by: { $0.key < $1.key }) {
        let ranges = intervals.filter { !$0.isEmpty }.map { interval in
            "[\(interval.start.milliseconds),\(interval.end.map { "\($0.milliseconds)" } ?? ""))"
        }
        object.append(entitlement.text, .string("{\(ranges.joined(separator: ","))}"))
    }
    return JSON.object(object).text
}
