import CatalogFile
import Core
import Crypto
import JSON
import Postgres
import SQL

/// The products that a decision has to look up in earlier catalogs.
struct PastNeed {
    /// The customer whom the decision concerns.
    let stream: Stream
    let products: Set<ProductKey>
    let editions: [CatalogEdition]

    fileprivate var places: [CatalogPlace] {
        editions.map { WantedEdition(project: stream.project, edition: $0).place }
    }
}

/// Earlier catalogs that were read, or the reasons why they are unreadable.
struct PastCatalogs {
    var found: [CatalogPlace: Result<KnownCatalog, LedgerError>] = [:]

    /// The catalog, if its entries for these products were read.
    subscript(place: CatalogPlace, covering products: Set<ProductKey>) -> Catalog? {
        guard case .success(let known)? = found[place], known.covers(products) else { return nil }
        return known.catalog
    }

    /// Returns a needed catalog that is unreadable, if there is one.
    func failure(of need: PastNeed) -> (edition: CatalogEdition, error: LedgerError)? {
        for (edition, place) in zip(need.editions, need.places) {
            if case .failure(let error)? = found[place] { return (edition, error) }
        }
        return nil
    }
}

/// The catalogs that a batch writes, and the earlier ones that its decisions use.
struct BatchCatalogs {
    /// New catalogs in canonical form, by digest.
    private var filed: [[UInt8]: [UInt8]] = [:]
    /// Earlier catalogs that were in memory.
    fileprivate var recalled = PastCatalogs()
    /// Earlier catalogs that were read for the current command.
    var read = PastCatalogs()

    /// Returns the event as it is written. Moves a new catalog to the table, unless older programs must still find the
    /// catalog in the event.
    mutating func file(_ event: Event, _ format: LogFormat) -> (event: Event, catalog: Catalog?) {
        guard case .catalogChanged(let changed) = event, let catalog = changed.catalog,
            format >= .readings
        else { return (event, nil) }
        let content = CatalogFile.json(catalog).bytes
        let digest = SHA256.digest(content).bytes
        filed[digest] = content
        return (.catalogChanged(changed.filed(under: digest)), catalog)
    }

    var calls: [Call] {
        if filed.isEmpty { return [] }
        return [
            Statement.insertCatalogs(.byteas(Array(filed.keys)), .byteas(Array(filed.values)))
        ]
    }
}

extension Batch {
    /// Returns the open editions of the stream with their catalogs. Throws if some were not read.
    func openEditions(of stream: Stream) throws(Undecided) -> [CatalogEdition] {
        let look = look(at: stream)
        if !look.isComplete { throw undecided([look]) }
        return look.open
    }

    /// Throws unless the catalogs of all open editions of these streams were read.
    func requirePast(of streams: [Stream]) throws(Undecided) {
        let looks = streams.map { look(at: $0) }
        if !looks.allSatisfy(\.isComplete) { throw undecided(looks) }
    }

    private func undecided(_ looks: [LookBack]) -> Undecided {
        let needs = looks.compactMap(\.need)
        for need in needs {
            if let failure = catalogs.read.failure(of: need) {
                return .fault(failure.error.fault)
            }
        }
        return .lackingCatalogs(needs)
    }

    /// Takes earlier catalogs from memory if they may be needed.
    mutating func recallPast(from cache: CatalogCache) {
        for stream in folds.keys {
            for place in look(at: stream).need?.places ?? [] {
                catalogs.recalled.found[place] = cache[place].map { .success($0) }
            }
        }
    }

    private func look(at stream: Stream) -> LookBack {
        guard let customer = published(stream) else { return LookBack(open: [], need: nil) }
        var open = Array(customer.openEditions(of: project(of: stream)))
        let earlier = open.indices.filter { open[$0].catalog == nil }
        if earlier.isEmpty { return LookBack(open: open, need: nil) }
        let need = PastNeed(
            stream: stream, products: customer.products, editions: earlier.map { open[$0] })
        for (index, place) in zip(earlier, need.places) {
            let catalog =
                catalogs.read[place, covering: need.products]
                ?? catalogs.recalled[place, covering: need.products]
            open[index] = open[index].with(catalog)
        }
        return LookBack(open: open, need: need)
    }
}

/// The open editions of a stream, with those of their catalogs that were read.
private struct LookBack {
    let open: [CatalogEdition]
    /// The earlier catalogs that are needed; `nil` if the project's state contains them all.
    let need: PastNeed?

    var isComplete: Bool { open.allSatisfy { $0.catalog != nil } }
}
