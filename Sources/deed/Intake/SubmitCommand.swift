import API
import Assembly
import Commands
import Core
import Evidence
import JSON
import Service
import Wording

let submitCommand = CommandSpec(
    path: ["submit"], summary: "Records what evidence states about a customer.",
    positionals: [
        Positional(
            name: "FILE", help: "a receipt, a signed transaction, an app transaction, …",
            isRequired: false, isRepeated: true)
    ],
    options: [
        .value("customer", "ID", "the customer who submits the evidence", isRequired: true),
        .flag("restore", "apply the project's rule for restored purchases"),
        .value("order", "ID", "the customer's order that the receipt fulfils"),
        .value(
            "google-token", "TOKEN",
            "a Google Play purchase token; - for standard input, which hides it from other users"),
        .value("package", "ID", "the package in which the purchase was made"),
        .value("product", "ID", "the product, for tokens of older one-time products"),
        .extraRoots, .secretKeyFile, .environment, .idempotencyKey, .project,
    ] + Option.database,
    example: "deed submit receipt.bin --customer u1"
) { invocation throws(CommandEnd) in
    let stream = try invocation.stream(of: invocation["customer"] ?? "")
    let (request, names) = try invocation.submissionRequest()
    let sender = try invocation.sender()
    try invocation.withIntake(in: stream.project) { intake throws(CommandEnd) in
        let submissions = Submissions(intake)
        let answer = try obey(
            intake.ledger.perform(
                try submissions.submitting(request, for: stream, by: sender)))
        invocation.show(answer.json, text: answer.text(of: names))
        if let refused = answer.items.first(where: \.isRefused) {
            throw .refused(
                code: refused.result.word,
                sentence: "Some of the evidence is not the customer's; see each file's result.")
        }
    }
}

extension Invocation {
    private static let fileLimit = 100

    /// Returns the request, and a name for each piece of its evidence.
    fileprivate func submissionRequest() throws(CommandEnd) -> (SubmissionRequest, [String]) {
        let files = allPositionals
        let token = try tokenEvidence()
        if files.isEmpty, token == nil {
            throw usage("name a file with evidence, or a purchase token with --google-token")
        }
        if files.count > Invocation.fileLimit {
            throw usage("at most \(Invocation.fileLimit) files can be submitted at once")
        }
        var pieces: [RawEvidence] = []
        for file in files { pieces.append(try evidence(in: file)) }
        if let token { pieces.append(token) }
        let request = SubmissionRequest(
            pieces, isRestore: has("restore"), order: try id("order"), only: nil)
        // The token itself is confidential.
        return (request, files + (token == nil ? [] : ["the token"]))
    }

    /// Returns a purchase token with the app's package name and the product.
    private func tokenEvidence() throws(CommandEnd) -> RawEvidence? {
        let flags = ["package": "package", "token": "google-token", "product": "product"]
        guard let given = self["google-token"] else {
            if self["package"] ?? self["product"] != nil {
                throw usage("--package and --product go with --google-token")
            }
            return nil
        }
        for case .objects(let members, _) in storeProfiles.flatMap(\.handIns).map(\.form) {
            var object = JSONObject()
            for member in members {
                let flag = flags[member.name] ?? member.name
                let isPiped = flag == "google-token" && given == "-"
                guard let text = isPiped ? try readFile("-").trimmingLineEnds : self[flag] else {
                    if member.isRequired { throw usage("--\(flag) is missing") }
                    continue
                }
                if let mistake = member.mistake(text) {
                    // Removes the full stop, because a hint follows.
                    let words = mistake.hasSuffix(".") ? String(mistake.dropLast()) : mistake
                    throw usage("--\(flag) \(words)")
                }
                object.append(member.name, .string(text))
            }
            return RawEvidence(.playToken, JSON.object(object).bytes)
        }
        return nil
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
    /// Whether the customer gets nothing from this evidence.
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
        case .believed(.refused(let refusal)): refusal.withRemedy
        case .believed(.alreadySettled(let order)):
            "Support has already settled the order \(order)."
        case .undecided(let id): "The evidence cannot be judged yet; see: deed intake show \(id)"
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
    /// Returns a line for each file and each purchase.
    fileprivate func text(of files: [String]) -> String {
        items.map { $0.line(of: files[$0.index]) }.joined(separator: "\n")
    }
}
