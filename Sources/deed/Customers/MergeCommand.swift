import API
import Commands
import Core
import Service

let mergeCommand = CommandSpec(
    path: ["customer", "merge"],
    summary: "Merges two ids of one player into one customer, or undoes a merge.",
    options: [
        .value("from", "ID", "the customer who becomes part of the other one", isRequired: true),
        .value("into", "ID", "the customer who gets everything that the first one has"),
        .flag("undo", "undo the merge of --from, instead of --into"),
    ] + reasons + [.idempotencyKey, .project] + Option.terms + Option.database,
    example:
        "deed customer merge --from anon-7 --into u1 --reason \"new phone\" --ticket T-8 --dry-run"
) { invocation throws(CommandEnd) in
    let from = try invocation.mergedCustomer("from")
    let into = invocation["into"] == nil ? nil : try invocation.mergedCustomer("into")
    if (into == nil) != invocation.has("undo") {
        throw invocation.usage("give either --into or --undo")
    }
    let stream = Stream(
        project: try invocation.project(), environment: .production, customer: from)
    let terms = try invocation.terms(concerning: 2...2)
    let reason = try invocation.adminReason()
    let sender = try invocation.sender()
    try invocation.withUseCases(in: stream.project) { useCases throws(CommandEnd) in
        let wish =
            if let into {
                useCases.merges.merging(
                    stream, into: into, reason: reason, isOfBackEnd: false, by: sender)
            } else {
                useCases.merges.undoing(stream, reason: reason, by: sender)
            }
        try invocation.fulfil(wish, on: terms, useCases) { answer in
            let other = answer.recorded.event.mergedWith?.customer.text ?? ""
            return (
                answer.json,
                into == nil
                    ? "\(from) is no longer part of \(other)."
                    : "\(from) is now part of \(other)."
            )
        }
    }
}

extension Invocation {
    fileprivate func mergedCustomer(_ name: String) throws(CommandEnd) -> CustomerID {
        guard let customer: CustomerID = try id(name) else { throw usage("--\(name) is missing") }
        if customer.isReserved { throw usage("--\(name) begins with a prefix that Deed reserves") }
        return customer
    }
}
