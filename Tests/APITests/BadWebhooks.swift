extension BadInputTests {
    static let webhooks: [BadCall] =
        webhookMembers.map { body, member in
            BadCall(
                label: "webhook \(body)", target: "/v1/webhooks",
                body: body.isEmpty ? "{}" : #"{"url":"https://example.com/",\#(body)}"#,
                member: member)
        }
        + webhookURLs.map { url in
            BadCall(
                label: "webhook at \(url)", target: "/v1/webhooks", body: #"{"url":"\#(url)"}"#,
                member: "url")
        }
        + [
            BadCall(
                label: "webhook without a url", target: "/v1/webhooks", body: "{}",
                code: "missing_member", member: "url"),
            BadCall(
                label: "webhook with a misspelt member", target: "/v1/webhooks",
                body: #"{"url":"https://example.com/","type":[]}"#, code: "unknown_member",
                member: "type"),
            BadCall(
                label: "moving a webhook to another environment", method: "PATCH",
                target: "/v1/webhooks/wh_1", body: #"{"environment":"sandbox"}"#,
                code: "unknown_member", member: "environment"),
            BadCall(
                label: "unknown webhook", method: "DELETE", target: "/v1/webhooks/wh_1", body: "",
                status: 404, code: "webhook_unknown"),
            BadCall(
                label: "overlap", target: "/v1/webhooks/wh_1/rotate", body: #"{"overlap":604801}"#,
                member: "overlap"),
            BadCall(
                label: "example of a family", target: "/v1/webhooks/wh_1/test",
                body: #"{"type":"grant.*"}"#, member: "type"),
            BadCall(
                label: "replay without an end", target: "/v1/webhooks/wh_1/replay",
                body: #"{"since":"2026-01-01T00:00:00Z"}"#, code: "missing_member",
                member: "until"),
            BadCall(
                label: "replay of nothing", target: "/v1/webhooks/wh_1/replay",
                body: #"{"since":"2026-01-01T00:00:00Z","until":"2026-01-01T00:00:00Z"}"#,
                member: "until"),
            BadCall(
                label: "replay of one event and others", target: "/v1/webhooks/wh_1/replay",
                body: #"{"event":"1-1-00000000","customer":"u1"}"#, member: "customer"),
        ]

    private static let webhookURLs = [
        "", "example.com", "http://example.com/", "ftp://example.com/", "https://", "https:///x",
        "https://u@example.com/", "https://u:p@example.com/", "https://example.com/#part",
        "https://example.com:0/", "https://example.com:99999/", "https://example.com:x/",
        "https://exa mple.com/", #"https://example.com/\n"#, "https://example.com\\\\@x/",
        "https://müller.example/", "javascript:alert(1)",
    ]

    private static let webhookMembers: [(String, String)] =
        [
            (#""types":[]"#, "types"),
            (
                #""types":["grant.given"\#(String(repeating: #","grant.given""#, count: 100))]"#,
                "types"
            ),
            (#""types":["grant.gven"]"#, "types"),
            (#""types":["*"]"#, "types"), (#""types":["webhook.set"]"#, "types"),
            (#""types":"grant.given""#, "types"), (#""types":[1]"#, "types[0]"),
            (#""environment":"test""#, "environment"), (#""format":"xml""#, "format"),
            (#""from":"now""#, "from"), (#""concurrency":0"#, "concurrency"),
            (#""concurrency":33"#, "concurrency"), (#""rate":0"#, "rate"),
            (#""rate":10001"#, "rate"), (#""description":"\u0000""#, "description"),
            (#""headers":[]"#, "headers"), (#""headers":{"A":1}"#, "headers.A"),
            (#""headers":{"A":"x\r\nB: y"}"#, "headers.A"), (#""headers":{"A":""}"#, "headers.A"),
            (#""headers":{"A b":"x"}"#, "headers.A b"),
            (#""headers":{"A":"1","a":"2"}"#, "headers"),
            (#""headers":{"A":"1","B":"1","C":"1","D":"1","E":"1","F":"1"}"#, "headers"),
        ]
        + [
            "Content-Type", "content-length", "Host", "Connection", "Transfer-Encoding",
            "Webhook-Id",
            "webhook-signature", "ce-id", "deed-test", "User-Agent", "Expect",
        ].map { (#""headers":{"\#($0)":"x"}"#, "headers.\($0)") }
}
