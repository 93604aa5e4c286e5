import Core
import HTTPServer
import JSON
import Service

/// Calls about the stored evidence of a customer, which only the service's own pages make.
struct EvidenceRoutes: Sendable {
    private static let pageSize = 25
    /// The maximum number of subjects that an answer lists for one piece of evidence.
    private static let subjectLimit = 25

    let proofs: Proofs

    var routes: [Route] {
        let list = "/customers/{customer}/evidence"
        let piece = "\(list)/{evidence}"
        return [
            Route(
                "GET", list, parameters: ["environment", "after", "event"], .read, .database,
                self.list),
            Route("GET", piece, parameters: ["environment"], .read, .database, prove),
            // Only admins may see these bytes, which contain prices and account names.
            Route(
                "GET", "\(piece)/bytes", parameters: ["environment"], .administer, .database,
                bytes),
        ]
    }

    private func list(_ call: Call) throws(Problem) -> Response {
        let stream = try certainStream(call)
        let version = try call.query.optionalInteger("event", in: 1...Int64.max)
        let answer: EvidenceAnswer
        if let version {
            answer = try obey(proofs.list(of: stream, behind: version))
        } else {
            answer = try obey(
                proofs.list(
                    of: stream, after: call.query["after"], limit: EvidenceRoutes.pageSize))
        }
        return .json([
            "evidence": .array(answer.pieces.map(\.json)), "next": .optional(answer.next),
        ])
    }

    private func prove(_ call: Call) throws(Problem) -> Response {
        let piece = try piece(call)
        return .json(piece.json.followed(by: proofs.prove(piece).json(EvidenceRoutes.subjectLimit)))
    }

    private func bytes(_ call: Call) throws(Problem) -> Response {
        guard let bytes = proofs.bytes(of: try piece(call)) else {
            throw .invalid(
                "evidence",
                "Only the digest of this evidence is stored, or the evidence is damaged.")
        }
        return Response(
            status: 200, headers: [Header(.contentType, "application/octet-stream")], body: bytes)
    }

    private func certainStream(_ call: Call) throws(Problem) -> Stream {
        let stream = try call.stream()
        try proofs.exports.customers.reading.certain()
        return stream
    }

    private func piece(_ call: Call) throws(Problem) -> EvidencePiece {
        let stream = try certainStream(call)
        guard let piece = try obey(proofs.piece(call.arguments[1], of: stream)) else {
            throw .invalid("evidence", "The customer has no such evidence.")
        }
        return piece
    }
}

extension EvidencePiece {
    fileprivate var json: JSON {
        [
            "evidence": .string(digest.hexDigits), "kind": .string(kind), "app": .optional(app),
            "environment": .string(environment), "signed_at": .instant(signedAt),
            "recorded_at": .instant(recordedAt), "kept": .bool(isKept),
        ]
    }
}

extension ProofVerdict {
    fileprivate func json(_ limit: Int) -> JSON {
        switch self {
        case .digestOnly: return ["outcome": "digest_only"]
        case .damaged: return ["outcome": "damaged"]
        case .refused(let sentence): return ["outcome": "refused", "detail": .string(sentence)]
        case .proven(let kind, let subjects):
            return [
                "outcome": "proven", "store": .string(kind.store.rawValue),
                "signed": .bool(kind.proof == .signature || kind.proof == .signatureOrWord),
                "subjects": .array(subjects.prefix(limit).map(JSON.string)),
                "more_subjects": .integer(max(0, subjects.count - limit)),
            ]
        }
    }
}
