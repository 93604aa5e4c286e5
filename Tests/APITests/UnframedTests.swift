import API
import HTTPServer
import JSON
import TestSupport
import Testing

@Suite("Bytes that are no request are answered as the document says", .timeLimit(.minutes(20)))
struct UnframedTests {
    @Test(
        "Every fault in the table is a problem with its own code, and nothing is executed")
    func table() throws {
        let service = try TestService()
        let server = try Server(settings(), metrics: service.metrics, service.router)
        let document = try APIDocument.current.get()
        let call = try #require(document.operations.first { $0.pattern == "/healthz" })
        var codes: Set<String> = []
        for request in RawRequest.all {
            let client = try RawClient(undocumented: server.port)
            client.send(request.bytes)
            for status in request.statuses {
                let reply = try #require(client.reply(), "\(request.name)")
                let isProblem = reply.head.contains("Content-Type: application/problem+json\r\n")
                #expect(isProblem, "\(request.name): \(reply.head)")
                let problem = try JSON.read(reply.body)
                let code = try #require(problem["code"]?.string)
                // No route matches the paths of these requests.
                if status == 200 {
                    #expect(reply.status == 404 && code == "route_unknown", "\(request.name)")
                    continue
                }
                #expect(reply.status == status, "\(request.name)")
                #expect(
                    call.answers[status]?.codes.contains(code) == true, "\(request.name): \(code)")
                #expect(
                    document.schemas["Problem"]?.problems(of: problem, named: document.schemas)
                        == [])
                codes.insert(code)
            }
        }
        #expect(
            codes == [
                "malformed_request", "malformed_header", "malformed_host", "malformed_length",
                "ambiguous_length", "malformed_chunk", "body_too_large", "target_too_long",
                "head_too_large", "method_unknown", "transfer_coding_unknown", "version_unknown",
            ])
        #expect(server.drain(milliseconds: 2000))
    }

    private func settings() -> ServerSettings {
        var settings = ServerSettings()
        settings.listen = "127.0.0.1:0"
        return settings
    }
}
