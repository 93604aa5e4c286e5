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
    guard let from = try invocation.customer("from") else {
        throw invocation.usage("--from is missing")
    }
    let into = try invocation.customer("into")
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
