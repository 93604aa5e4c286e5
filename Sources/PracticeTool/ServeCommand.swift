import Commands
import Core
import Practice

let serveCommand = CommandSpec(
    path: ["serve"], summary: "Runs the store until it receives a signal to stop.",
    options: [
        .dataDir,
        .setting("listen", "ADDRESS", "the address to listen on", fallback: "127.0.0.1:9090"),
        .value("notify", "URL", "Deed's address for notifications"),
        .value("clock", "INSTANT", "a clock that stands still until it is advanced"),
        .value("pace", "PACE", "calendar, sandbox, or the length of a month like 5m"),
        .value("seed", "NUMBER", "the seed for random events"),
        .value("service-url", "URL", "a Deed server whose test clock follows the store's clock"),
        .value(
            "service-key", "FILE",
            "an admin key for that server; the default is the key in DEED_PRACTICE_SERVICE_KEY"),
    ],
    example: "deed-practice serve --data-dir ~/practice"
) { invocation throws(CommandEnd) in
    let path = invocation["data-dir"] ?? ""
    if let url = invocation["notify"], !Shop.isAddress(url) {
        throw .usage("--notify is \"\(url)\"; \(Shop.addressHint)")
    }
    let start = try invocation.instant("clock")
    let service = try ServiceClock(invocation)
    let serviceStart = try service?.now()
    StopSignal.install()
    try playing { () throws(PracticeError) in
        let folder = try DataFolder(path)
        let lock = try FolderLock(folder)
        defer { withExtendedLifetime(lock) {} }
        let authority = try Authority(in: folder)
        var world = try world(in: folder, invocation, from: start, beside: serviceStart)
        if let url = invocation["notify"] { world.send(to: url) }
        let postman = try Postman()
        var port = PracticePort(now: machineClock, send: { postman.send($0, $1) })
        if let service {
            port.follow = { instant throws(PracticeError) in try follow(instant, with: service) }
        }
        let account = try world.shop.google.map { _ throws(PracticeError) in
            try ServiceAccount(in: folder)
        }
        let store = PracticeStore(
            world, authority: authority, account: account, folder: folder, port: port)
        let server = try PracticeServer(
            store, listen: invocation["listen"] ?? "", now: machineClock)
        // If the folder's clock is behind the given start, it moves forward to the start. A later clock does not
        // change.
        if let start, store.read({ $0.now }) < start { try store.advance(to: start) }
        printText(
            """
            serving on http://127.0.0.1:\(server.port)
            roots for Deed: \(path)/roots (deed serve --extra-roots \(path)/roots)
            server API: issuer \(authority.issuer), key id \(authority.keyID)
                        \(path)/keys/AuthKey_\(authority.keyID).p8
            the app is \(world.shop.app.bundleID); what it sells is in \(path)/shop.json
            """)
        if let account, let google = world.shop.google {
            let file = try account.write(to: folder, port: server.port)
            printText("Google Play: \(google.packageName), service account \(file)")
        }
        StopSignal.wait()
        server.stop()
    }
}

let rootsCommand = CommandSpec(
    path: ["roots"],
    summary: "Creates the roots that Deed must trust, unless the folder already has them.",
    options: [.dataDir], example: "deed-practice roots --data-dir ~/practice"
) { invocation throws(CommandEnd) in
    let path = invocation["data-dir"] ?? ""
    try playing { () throws(PracticeError) in _ = try Authority(in: try DataFolder(path)) }
    printText("\(path)/roots")
}

/// Runs `body`, and converts the store's errors into the command's errors.
private func playing(_ body: () throws(PracticeError) -> Void) throws(CommandEnd) {
    try rethrowing(as: CommandEnd.init, body)
}

/// Makes the clock of a Deed server follow the store's clock.
@Sendable
private func follow(
    _ instant: Instant, with service: ServiceClock
) throws(PracticeError) {
    do throws(CommandEnd) {
        try service.follow(instant)
    } catch {
        printError("error: \(error.sentence)")
        throw .broken(
            "Deed's clock did not follow, so everything that is due must wait: \(error.sentence)")
    }
}

/// Returns the world in the folder, or a new one that starts now. Given a Deed server with a test
/// clock, a new world starts at that clock's time.
private func world(
    in folder: DataFolder, _ invocation: Invocation, from start: Instant?,
    beside serviceStart: Instant?
) throws(PracticeError) -> PracticeWorld {
    if !folder.holds("shop.json") { try folder.write("shop.json", Shop.example.text) }
    let shop = try Shop(try folder.bytes("shop.json"))
    let pace = try invocation["pace"].map { text throws(PracticeError) in
        guard let pace = text == "sandbox" ? .sandbox : Pace(text) else {
            throw .invalid("--pace must be calendar, or the length of a month like 5m")
        }
        return pace
    }
    let seed = try invocation["seed"].map { text throws(PracticeError) in
        guard let seed = UInt64(text) else {
            throw .invalid("--seed must be a whole number that is not negative")
        }
        return seed
    }
    if var kept = try PracticeStore.world(in: folder) {
        try kept.takeUp(shop, pace: pace, clock: start, seed: seed)
        return kept
    }
    var world = PracticeWorld(
        shop, from: start ?? serviceStart ?? machineClock(), pace: pace ?? .calendar,
        seed: seed ?? UInt64.random(in: 0...UInt64.max))
    if start == nil, serviceStart == nil { world.runWithMachine() }
    return world
}
