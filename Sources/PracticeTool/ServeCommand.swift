import Core
import Practice

extension PracticeTool {
    /// Runs the store until it receives a signal to stop.
    static func serve(_ words: [String]) throws(ToolEnd) {
        let arguments = try Arguments(
            words,
            valued: [
                "listen", "data-dir", "notify", "clock", "pace", "seed", "service-url",
                "service-key",
            ], bare: [])
        guard let path = arguments["data-dir"] else {
            throw .usage("--data-dir is missing; see: deed-practice --help")
        }
        if let url = arguments["notify"], !Shop.isAddress(url) {
            throw .usage("--notify is \"\(url)\"; \(Shop.addressHint)")
        }
        let service = try ServiceClock(arguments)
        let serviceStart = try service?.now()
        StopSignal.hold()
        do throws(PracticeError) {
            let folder = try DataFolder(path)
            let lock = try FolderLock(folder)
            defer { withExtendedLifetime(lock) {} }
            let authority = try Authority(in: folder)
            var world = try world(in: folder, arguments, beside: serviceStart)
            if let url = arguments["notify"] { world.send(to: url) }
            let postman = try Postman()
            var port = PracticePort(now: machineClock, send: { postman.send($0, $1) })
            if let service {
                port.follow = { instant throws(PracticeError) in
                    try follow(instant, with: service)
                }
            }
            let store = PracticeStore(world, authority: authority, folder: folder, port: port)
            let server = try PracticeServer(
                store, listen: arguments["listen"] ?? "127.0.0.1:9090", now: machineClock)
            // Where the same folder stood before that, it goes there; where it was ahead, it stays.
            if let start = try start(arguments), store.read({ $0.now }) < start {
                try store.advance(to: start)
            }
            write("serving on http://127.0.0.1:\(server.port)")
            write("roots for Deed: \(path)/roots (deed serve --extra-roots \(path)/roots)")
            write("server API: issuer \(authority.issuer), key id \(authority.keyID)")
            write("            \(path)/keys/AuthKey_\(authority.keyID).p8")
            write("the app is \(world.shop.app.bundleID); what it sells is in \(path)/shop.json")
            StopSignal.wait()
            server.stop()
        } catch {
            switch error {
            case .invalid(let text): throw .usage(text)
            case .refused(let text): throw .refused(text)
            case .broken(let text): throw .fault(text)
            }
        }
    }

    /// Makes the roots that Deed must trust, unless they are there.
    static func roots(_ words: [String]) throws(ToolEnd) {
        let arguments = try Arguments(words, valued: ["data-dir"], bare: [])
        guard let path = arguments["data-dir"] else {
            throw .usage("--data-dir is missing; see: deed-practice --help")
        }
        do throws(PracticeError) {
            _ = try Authority(in: try DataFolder(path))
        } catch {
            throw .fault(error.description)
        }
        write("\(path)/roots")
    }

    /// Takes a Deed along whose clock follows the store's.
    @Sendable
    private static func follow(
        _ instant: Instant, with service: ServiceClock
    ) throws(PracticeError) {
        do throws(ToolEnd) {
            try service.follow(instant)
        } catch {
            complain(error)
            throw .broken("Deed's clock did not follow, and what is due waits: \(error.sentence)")
        }
    }

    private static func start(_ arguments: Arguments) throws(PracticeError) -> Instant? {
        try arguments["clock"].map { text throws(PracticeError) in
            guard let instant = Instant(text: text) else {
                throw .invalid("--clock must be an instant like 2026-01-01T00:00:00Z")
            }
            return instant
        }
    }

    /// The world that the folder keeps, or a new one that begins now: with a Deed with a test clock,
    /// when it is now there, and standing as that does.
    private static func world(
        in folder: DataFolder, _ arguments: Arguments, beside serviceStart: Instant?
    ) throws(PracticeError) -> PracticeWorld {
        if !folder.holds("shop.json") { try folder.write("shop.json", Shop.example.text) }
        let shop = try Shop(try folder.bytes("shop.json"))
        let start = try start(arguments)
        let pace = try arguments["pace"].map { text throws(PracticeError) in
            guard let pace = text == "sandbox" ? .sandbox : Pace(text) else {
                throw .invalid("--pace must be calendar, or the length of a month like 5m")
            }
            return pace
        }
        let seed = try arguments["seed"].map { text throws(PracticeError) in
            guard let seed = UInt64(text) else {
                throw .invalid("--seed must be a whole number from 0 on")
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
}
