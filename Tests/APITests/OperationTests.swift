import API
import Core
import Foundation
import HTTPServer
import JSON
import Outbound
import Service
import Telemetry
import TestSupport
import Testing

@Suite("Operations over the API")
struct OperationTests {
    private let service: TestService

    init() throws {
        service = try TestService()
    }

    @Test("An instance is alive, and ready if nothing keeps it from answering")
    func ready() {
        #expect(service.send("GET", "/healthz").text == #"{"alive":true}"#)
        #expect(service.send("GET", "/readyz").text == #"{"ready":true}"#)
        service.obstacles.set([
            Obstacle("The database cannot be reached; check that it is running.")
        ])
        let reply = service.send("GET", "/readyz")
        #expect(reply.status == 503)
        #expect(
            reply.text
                == #"{"ready":false,"reasons":["#
                + #""The database cannot be reached; check that it is running."]}"#)
        #expect(service.send("GET", "/healthz").status == 200)
        #expect(service.send("GET", "/readyz?for=reads").status == 503)
        service.obstacles.set([Obstacle("The disk is full.", allowsReads: true)])
        #expect(service.send("GET", "/readyz").status == 503)
        #expect(service.send("GET", "/readyz?for=reads").text == #"{"ready":true}"#)
        #expect(service.send("GET", "/readyz?for=writes").status == 400)
    }

    @Test("Metrics count requests by route and status, and measure commits, queue and pool")
    func metrics() throws {
        let key = try service.key(.admin)
        for customer in ["u1", "u2", "u3"] {
            _ = service.send(
                "POST", "/v1/customers/\(customer)/grants", key: key,
                body: #"{"entitlement":"pro","reason":"r"}"#)
        }
        _ = service.send("POST", "/v1/customers/u1/grants", key: key, body: "{}")
        _ = service.send("GET", "/v1/customers/u1/entitlements", key: key)
        _ = service.send("GET", "/nowhere")
        let reply = service.send("GET", "/metrics")
        #expect(reply.header("Content-Type") == "text/plain; version=0.0.4")
        let lines = Set(reply.text.split(separator: "\n").map(String.init))
        let grants = #"route="/v1/customers/{customer}/grants",method="POST""#
        for line in [
            #"deed_http_requests_total{\#(grants),status="201"} 3"#,
            #"deed_http_requests_total{\#(grants),status="400"} 1"#,
            #"deed_http_requests_total{route="none",method="any",status="404"} 1"#,
            "deed_http_request_seconds_count{\(grants)} 4",
            #"deed_http_request_seconds_bucket{\#(grants),le="+Inf"} 4"#,
            "deed_commit_queue_depth 0", "deed_database_pool_in_use 0",
            "deed_database_pool_size 8",
        ] {
            #expect(lines.contains(line), "\(line) is not in\n\(reply.text)")
        }
        // One commit each for the project, its permission, the key and the three grants.
        #expect(lines.contains("deed_commit_batch_size_count 6"))
        #expect(lines.contains { $0.hasPrefix("deed_commit_seconds_bucket{") })
    }

    @Test("A missing database is reported as such, with the advice to repeat the call")
    func databaseGone() throws {
        let key = try service.key(.admin)
        #expect(service.send("GET", "/v1/customers/u1/entitlements", key: key).status == 200)
        try service.database.drop()
        // Memory has no answer about this customer.
        let reply = service.send("GET", "/v1/customers/u2/entitlements", key: key)
        #expect(reply.status == 503)
        #expect(reply.header("Retry-After") == "1")
        #expect(try reply.json["code"]?.string == "database_unavailable")
        #expect(try reply.json["retryable"]?.bool == true)
    }

    @Test("A body over the limit is refused on the wire, over plain HTTP and TLS")
    func bodyTooLarge() throws {
        let folder = try ScratchFolder()
        let files = try folder.makeCertificate("server")
        let key = try service.key(.admin)
        for tls in [nil, TLSFiles(certificate: files.certificate, key: files.key)] {
            var settings = ServerSettings()
            settings.listen = "127.0.0.1:0"
            settings.tls = tls
            let server = try Server(settings, metrics: Metrics(), service.router)
            defer { server.drain(milliseconds: 2000) }
            var client = try HTTPClient(caFile: tls == nil ? nil : files.certificate)
            let url = "\(tls == nil ? "http" : "https")://127.0.0.1:\(server.port)"
            var request = OutboundRequest(
                "POST", "\(url)/v1/customers/a%2Fb/grants",
                headers: [("Authorization", "Bearer \(key.text)")])
            request.body = padded(toBytes: Router.bodyLimit + 1)
            let refused = try client.send(request)
            #expect(refused.status == 413)
            let problem = try JSON.read(refused.body)
            #expect(problem["code"]?.string == "body_too_large")
            #expect(problem["member"]?.string == "body")
            request.body = padded(toBytes: Router.bodyLimit)
            let taken = try client.send(request)
            #expect(taken.status == 201)
            #expect(try JSON.read(taken.body)["customer"]?.string == "a/b")
        }
    }

    /// Returns a valid grant of exactly this size.
    private func padded(toBytes count: Int) -> [UInt8] {
        let grant = Array(#"{"entitlement":"pro","reason":"r"}"#.utf8)
        return grant + [UInt8](repeating: UInt8(ascii: " "), count: count - grant.count)
    }
}
