import BenchmarkHarness
import CLinkFloor
import EventLink
import Glibc
import PseudoTerminal

/// `mosquitto_pub -l`, which sends each line of its input, and `mosquitto_sub`, which prints each payload.
final class ClientPair: Pair {
  let quality: LinkQuality
  let column = Column.clients
  let meter = Meter()
  private let topic: String
  private let input: Int32
  private let children: [ChildProcess]

  init(_ publisher: String, _ subscriber: String, port: UInt16, _ quality: LinkQuality) throws {
    self.quality = quality
    topic = "clients/orders/\(quality)"
    let options = ["-p", "\(port)", "-t", topic, "-q", quality == .atMostOnce ? "0" : "1"]
    let (toPublisher, fromSubscriber) = (try Self.pipe(), try Self.pipe())
    let reading = try ChildProcess(
      [subscriber] + options, environment: bareEnvironment, descriptors: (-1, fromSubscriber.writer, -1),
      directory: nil)
    let writing = try ChildProcess(
      [publisher, "-l"] + options, environment: bareEnvironment, descriptors: (toPublisher.reader, -1, -1),
      directory: nil)
    children = [reading, writing]
    input = toPublisher.writer
    close(fromSubscriber.writer)
    close(toPublisher.reader)
    Self.count(fromSubscriber.reader, meter)
    try untilConnected()
  }

  /// Sends events until the first one has arrived: a subscriber that does not print cannot say when it is connected.
  private func untilConnected() throws {
    for _ in 0..<200 where meter.count == 0 {
      write(1)
      usleep(20_000)
    }
    guard meter.count > 0 else { throw WorkNotDone("mosquitto_sub receives nothing") }
    usleep(200_000)
  }

  private static func pipe() throws -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [0, 0]
    // Children get no descriptor above 2.
    guard Glibc.pipe(&ends) == 0 else { throw WorkNotDone("there is no pipe") }
    return (ends[0], ends[1])
  }

  /// Counts lines on a thread.
  private static func count(_ descriptor: Int32, _ meter: Meter) {
    startThread {
      var (buffer, number) = ([UInt8](repeating: 0, count: 65_536), 0)
      while case let length = read(descriptor, &buffer, buffer.count), length > 0 {
        for byte in buffer[..<length] where byte == UInt8(ascii: "\n") {
          number += 1
          meter.note(number)
        }
      }
      close(descriptor)
    }
  }

  private func write(_ number: Int) {
    var text = [CChar](repeating: 0, count: 512)
    let length = link_plain_format(&text, text.count, topic, "0123456789abcdef0123456789abcdef", number)
    text[length] = CChar(bitPattern: UInt8(ascii: "\n"))
    _ = Glibc.write(input, text, length + 1)
  }

  func send(through number: Int, window: Int) throws {
    for next in meter.count + 1...number {
      if next - meter.count > window { try meter.wait(for: next - window / 2, column) }
      write(next)
    }
    try meter.wait(for: number, column)
  }

  func end() async {
    close(input)
    for child in children { await child.end() }
  }
}
