package import Core
package import HTTPServer
import JSON
import Wording

/// A refusal as the API reports it. Each surface words it in its own way.
package struct Problem: Error, Sendable {
    package let status: Int
    package let code: String
    /// What happened and what to do.
    package let detail: String
    /// The refusal that caused the problem, for pages that word its remedy in their own way.
    package private(set) var refusal: Refusal?
    /// Whether the same request may succeed later.
    var isRetryable = false
    /// The member, parameter or part of the path that caused the problem.
    var member: String?
    package var headers: [Header] = []
    /// Additional members in the answer.
    var extensions = JSONObject()

    /// The problem in the format of RFC 9457.
    package var document: Response {
        Response(
            status: status, headers: [Header(.contentType, "application/problem+json")] + headers,
            body: json.bytes)
    }

    /// The problem without headers, as part of another answer.
    var json: JSON {
        let body: JSON = [
            "type": "about:blank", "title": .string(Problem.title(of: status)),
            "status": .integer(status), "code": .string(code), "detail": .string(detail),
            "retryable": .bool(isRetryable),
        ]
        return body.with("member", member.map(JSON.string)).followed(by: .object(extensions))
    }

    /// A sentence about each error in the submitted text, with the error's place, if the problem
    /// lists errors.
    package var errors: [String] {
        (extensions["errors"]?.array ?? []).map { error in
            let parts = [error["path"]?.string ?? "", error["detail"]?.string ?? ""]
            return parts.filter { !$0.isEmpty }.joined(separator: " ")
        }
    }

    private static func title(of status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: "Internal Server Error"
        }
    }
}

extension Problem {
    /// Returns the problem for an unacceptable member, parameter or part of the path.
    static func invalid(_ member: String, _ detail: String) -> Problem {
        Problem(status: 400, code: "invalid_member", detail: detail, member: member)
    }

    static func answerTooLarge(_ bytes: Int, _ limit: Int) -> Problem {
        Problem(
            status: 413, code: "answer_too_large",
            detail: "The answers have \(bytes) bytes, and the limit is \(limit); ask about "
                + "fewer customers in one call.")
    }

    /// Returns the problem for an unknown member or parameter. `kind` says whether it is a member
    /// or a parameter.
    static func unknown(_ kind: String, _ name: String, of names: [String]) -> Problem {
        // Cuts the name off, so that a long name does not cause an equally long answer.
        let name = String(String.UnicodeScalarView(name.unicodeScalars.prefix(100)))
        let list = names.isEmpty ? "none" : names.joined(separator: ", ")
        return Problem(
            status: 400, code: "unknown_member",
            detail: "The \(kind) \"\(name)\" is not known to this call, which takes \(list).",
            member: name)
    }

    static func missing(_ member: String) -> Problem {
        .missing(member, "The member \"\(member)\" is missing; add it to the body.")
    }

    static func missing(_ member: String, _ detail: String) -> Problem {
        Problem(status: 400, code: "missing_member", detail: detail, member: member)
    }

    static let unknownRoute = Problem(
        status: 404, code: "route_unknown",
        detail: "This path does not exist; docs/api.md lists the calls.")

    static func wrongMethod(allowed: [String]) -> Problem {
        let list = allowed.joined(separator: ", ")
        return Problem(
            status: 405, code: "method_not_allowed", detail: "This path accepts only \(list).",
            headers: [Header(.allowedMethods, list)])
    }

    static let malformedPath = invalid(
        "path", "The path is not validly percent-encoded UTF-8.")

    static func noKey(_ detail: String) -> Problem {
        Problem(status: 401, code: "key_missing", detail: detail)
    }

    static let noBearerKey = Problem(
        status: 401, code: "key_missing",
        detail: "Send a key of the project: Authorization: Bearer deed_<role>_…",
        headers: [Header(.authentication, "Bearer")])

    static let emptyBearerKey = Problem(
        status: 401, code: "key_missing",
        detail:
            "The header Authorization has no key after Bearer; perhaps a variable is empty. Send "
            + "a key of the project: Authorization: Bearer deed_<role>_…",
        headers: [Header(.authentication, "Bearer")])

    static let unknownKey = Problem(
        status: 401, code: "key_unknown",
        detail:
            "This key belongs to no project, or was revoked; create a key with: deed key create",
        headers: [Header(.authentication, "Bearer error=\"invalid_token\"")])

    /// Returns the problem for a key with another role. `needed` starts with the role that has the fewest permissions.
    static func wrongRole(needed: [Role], held: Role) -> Problem {
        let least = needed.first ?? .admin
        let others = least == .support ? " or \(Role.admin.rawValue)" : ""
        return Problem(
            status: 403, code: "role_insufficient",
            detail:
                "This call needs a key with the role \(least.rawValue)\(others), but this key's role is "
                + "\(held.rawValue); create a key with: deed key create --role \(least.rawValue)")
    }

    static func bodyTooLarge(limit: Int) -> Problem {
        Problem(
            status: 413, code: "body_too_large",
            detail: "The body of this call may have at most \(limit) bytes; send a smaller one.",
            member: "body")
    }

    /// Returns the problem for senders without a known key who have sent more requests than the service can process.
    static func throttled(_ detail: String, after seconds: Int = 1) -> Problem {
        Problem(
            status: 429, code: "too_many_requests", detail: detail, isRetryable: true,
            headers: [Header(.retryAfter, String(seconds))])
    }

    /// Returns the problem for a temporary fault. The caller can try again.
    static func busy(_ detail: String, code: String = "busy") -> Problem {
        Problem(
            status: 503, code: code, detail: detail, isRetryable: true,
            headers: [Header(.retryAfter, "1")])
    }
}

extension Problem {
    package init(_ refusal: Refusal) {
        self.init(
            status: refusal.wording.kind.status, code: refusal.code, detail: refusal.withRemedy)
        self.refusal = refusal
        switch refusal {
        case .customerMerged(let customer, let whole):
            extensions.append("customer", .string(customer.text))
            extensions.append("merged_into", .string(whole.text))
        case .merge(let refusal):
            member = refusal.member
            for (name, value) in refusal.details { extensions.append(name, value) }
        case .catalogChangedMeanwhile(let found): extensions.append("version", .integer(found))
        case .customerChangedMeanwhile(let customer, let found):
            extensions.append("customer", .string(customer.text))
            extensions.append("version", .integer(found))
        case .balance(.insufficient(let currency, let balance, _, _)):
            extensions.append("currency", .string(currency.text))
            extensions.append("balance", .integer(balance))
        case .balance(.creditLimitReached(let currency, _, let left)):
            extensions.append("currency", .string(currency.text))
            extensions.append("left", .integer(left))
        case .nameUnknown(let name, let nearest):
            member = name.noun
            extensions.append("nearest", .optional(nearest))
        case .versionsMiscounted: member = "if_version"
        case .support(.beyondLimit(_, let limit, let end)):
            extensions.append("limit", .optional(limit?.text))
            extensions.append("until", .optional(end?.text))
        case .grant(.endsBeforeItStarts): member = "end"
        case .grant(.endsInThePast(_, let isLength)): member = isLength ? "for" : "end"
        case .credentialsInvalid(let part): member = "credentials.\(part.name)"
        case .intake(.full), .formatPending:
            isRetryable = true
            headers = [Header(.retryAfter, "60")]
        case .reconciliationRunning: isRetryable = true
        default: break
        }
    }

    package init(_ fault: Fault) {
        switch fault {
        case .busy:
            self = .busy(
                "The server is overloaded: its queue is full or the database is slow; try again in a "
                    + "second.")
        case .unavailable:
            self = .busy(
                "The database cannot be reached; try again, with the same Idempotency-Key.",
                code: "database_unavailable")
        case .impeded(let impediment):
            self = .busy(
                "\(impediment.publicSentence) Try again, with the same Idempotency-Key.",
                code: impediment.kind.rawValue)
        case .logBlocked:
            self = .busy(
                "This part of the log accepts no events until an operator has run: deed audit "
                    + "--quarantine. Repeat the call later, with the same Idempotency-Key.",
                code: "log_blocked")
        case .rowUnproven:
            // Does not pass on the fault, because the caller must not learn the customer's name.
            self = .busy(
                "Database rows for this call differ from the log, so nothing was "
                    + "done until an operator has run: deed reconcile --full --repair. Repeat the call "
                    + "later, with the same Idempotency-Key.",
                code: "row_unproven")
        case .unreadable(let what):
            self.init(
                status: 500, code: "unreadable",
                detail: what.needsNewer
                    ? "A newer release of Deed wrote something that this instance cannot read. Tell the "
                        + "operator to upgrade this instance."
                    : "Something that this call needs is damaged in the database; Deed's own log entries say "
                        + "what. Tell the operator.")
        case .broken, .leaseLost:
            // The log contains the reason, which may include details that the caller must not see.
            self.init(
                status: 500, code: "internal",
                detail: "Something broke in Deed; its log entries say what. Tell the operator.")
        }
    }

    init(_ error: CommandError) {
        switch error {
        case .refused(let refusal): self.init(refusal)
        case .fault(let fault): self.init(fault)
        }
    }

    /// Creates the problem for a request that does not reach a route.
    package init(_ refusal: ServerRefusal) {
        switch refusal {
        case .busy:
            self = .busy("The server is overloaded: its queue is full; try again in a second.")
        case .throttled:
            self = .throttled(
                "Too many calls without a known key are waiting; try again in a second.")
        case .tooManyConnections:
            self = .busy(
                "The connection limit is reached; use fewer connections, and keep them alive.",
                code: "too_many_connections")
        case .draining:
            self = .busy("This instance is stopping; try again.", code: "stopping")
        case .bodyTooLarge(let limit):
            self = .bodyTooLarge(limit: limit)
        case .unframed(let fault): self.init(fault)
        case .malformedTarget:
            self.init(
                status: 400, code: "malformed_target",
                detail: "The path or the query contains bytes that are not UTF-8; percent-encode"
                    + " text as UTF-8.")
        }
    }
}

func ask<Answer>(_ answer: @autoclosure () throws(Fault) -> Answer) throws(Problem) -> Answer {
    try rethrowing(as: Problem.init, answer)
}

/// Returns the use case's answer. Throws the problem if the use case fails.
func obey<Answer>(
    _ answer: @autoclosure () throws(CommandError) -> Answer
) throws(Problem) -> Answer {
    try rethrowing(as: Problem.init, answer)
}

extension RefusalWording.Kind {
    fileprivate var status: Int {
        switch self {
        case .improper: 400
        case .forbidden: 403
        case .unknown: 404
        case .conflict: 409
        case .tooLarge: 413
        case .mismatch: 422
        case .full: 429
        }
    }
}
