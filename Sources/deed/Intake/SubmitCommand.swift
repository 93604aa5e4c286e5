import API
import Commands
import Core
import Evidence
import JSON
import Service

let submitCommand = CommandSpec(
    path: ["submit"], summary: "Records what evidence states, for a customer.",
    positionals: [
        Positional(
            name: "FILE", help: "a receipt, a signed transaction, an app transaction, …",
            isRepeated: true)
    ],
    options: [
        .value("customer", "ID", "who submits it", isRequired: true),
        .flag("restore", "under the project's rule for restoring purchases"),
        .value("order", "ID", "the customer's order that a receipt fulfils"),
        .extraRoots, .environment, .idempotencyKey, .project,
    ] + Option.database,
    example: "deed submit receipt.bin --customer u1"
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream(of: invocation["customer"] ?? "")
    let request = try invocation.submissionRequest()
    let sender = try invocation.sender()
    try invocation.withIntake(in: stream.project) { intake throws(CommandEnd) in
        let submissions = Submissions(intake, apps: AppRing(intake.ports))
        let answer = try obey(
            intake.ports.ledger.perform(
                try submissions.submitting(request, for: stream, by: sender)))
        invocation.show(answer.json, text: answer.text(of: invocation.allPositionals))
        if let refused = answer.items.first(where: \.isRefused) {
            throw .refused(
                code: refused.result.word,
                sentence: "Not all of the evidence is the customer's; see the result of each file.")
        }
    }
}

extension Invocation {
    private static let fileLimit = 100

    fileprivate func submissionRequest() throws(CommandEnd) -> SubmissionRequest {
        let files = allPositionals
        if files.count > Invocation.fileLimit {
            throw usage("at most \(Invocation.fileLimit) files can be submitted at once")
        }
        var pieces: [RawEvidence] = []
        for file in files { pieces.append(try evidence(in: file)) }
        return SubmissionRequest(pieces, isRestore: has("restore"), order: try id("order"))
    }

    private func evidence(in file: String) throws(CommandEnd) -> RawEvidence {
        let bytes = try readEvidence(file)
        guard let kind = EvidenceKind.detect(bytes) else {
            throw .refused(
                code: "unrecognized",
                sentence: foreignKind(of: bytes).map {
                    "\(file) is \($0), not evidence. \(evidenceKinds)"
                }
                    ?? "\(file) does not look like evidence that a store signs. \(evidenceKinds)")
        }
        return RawEvidence(kind, bytes)
    }
}

extension SubmittedItem {
    /// Whether the customer gets nothing from it.
    fileprivate var isRefused: Bool {
        switch result {
        case .believed(.recorded), .believed(.alreadyKnown), .believed(.alreadySettled), .undecided:
            false
        case .believed(.refused), .refused: true
        }
    }

    private var sentence: String? {
        switch result {
        case .believed(.recorded), .believed(.alreadyKnown): nil
        case .believed(.refused(let refusal)): refusal.sentence
        case .believed(.alreadySettled(let order)): "Support settled the order \(order) before."
        case .undecided(let id): "It cannot be judged yet; see: deed intake show \(id)"
        case .refused(let refused): refused.sentence
        }
    }

    fileprivate func line(of file: String) -> String {
        [
            file, result.word, otherEnvironment?.rawValue, purchase?.description,
            transaction.map { "transaction \($0)" }, sentence,
            unknownProduct.map { "warning: the catalog does not know the product \($0.id)" },
        ].compactMap(\.self).joined(separator: "   ")
    }
}

extension SubmissionAnswer {
    /// A line for each file and purchase.
    fileprivate func text(of files: [String]) -> String {
        items.map { $0.line(of: files[$0.index]) }.joined(separator: "\n")
    }
}
