import Core
import HTTPServer
import JSON
import Service

/// The calls that admins use to export a person's data or to erase the person.
struct ErasureRoutes: Sendable {
    /// The size limit of an export. Larger exports need the command, which writes the document without holding all of
    /// it in memory.
    static let exportLimit = 64 << 20

    let erasures: Erasures
    let exports: Exports

    var routes: [Route] {
        [
            Route(
                "GET", "/customers/{customer}/export", .administer, .database, about: .both, export),
            Route(
                "POST", "/customers/{customer}/erase", .administer, .database, about: .found, erase),
        ]
    }

    private func export(_ call: Call) throws(Problem) -> Response {
        let customer = try call.customer()
        try exports.certain()
        let body = Collected()
        try obey(
            ExportText.write(exports, customer, in: call.access.project) {
                bytes throws(CommandError) in
                if body.bytes.count + bytes.count > ErasureRoutes.exportLimit {
                    throw .refused(.erasure(.exportTooLarge(limit: ErasureRoutes.exportLimit)))
                }
                body.bytes += bytes
            })
        return Response(
            status: 200, headers: [Header(.contentType, "application/json"), Response.askAgain],
            body: body.bytes)
    }

    private func erase(_ call: Call) throws(Problem) -> Reaction {
        let customer = try call.customer()
        let body = try Body(
            call.body, of: ["purchases", "intent", "environment"] + Body.reasonNames)
        let environment: Core.Environment? = try body.optionalWord("environment")
        try call.access.require(environment)
        let request = ErasureRequest(
            customer, in: call.access.project, environment,
            reason: try body.adminReason(), treatment: try body.word("purchases"),
            intent: try body.optionalText("intent"))
        if request.intent == nil {
            let look = try obey(erasures.look(request))
            return Response.json(look.json, position: look.position).reaction
        }
        return erasures.erasing(request, by: call.sender)
            .response { .json($0.json, position: $0.position) }.reaction
    }
}

/// The bytes of an answer that arrives in pieces.
private final class Collected {
    var bytes: [UInt8] = []
}

extension Exports {
    fileprivate func certain() throws(Problem) { try customers.reading.certain() }
}
