import Core

extension Stage {
    /// Calls that merge two customers or undo a merge. Deed knows nothing about these customers.
    static let merging = [
        Row(
            call: "POST /v1/customers/{customer}/merge", role: .backend, isForSupport: true,
            arguments: ["who-is-this"], body: #"{"into":"u9","reason":"r","ticket":"T-1"}"#,
            elsewhere: 404),
        Row(
            call: "POST /v1/customers/{customer}/merge/undo", role: .admin, isForSupport: true,
            arguments: ["who-is-this"], body: #"{"reason":"r","ticket":"T-1"}"#, elsewhere: 404),
    ]
}
