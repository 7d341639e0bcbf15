import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;

/** The command line that both peers share. */
record PeerOptions(String part, String hosts, double round_trip_ms, int repeat, int waiting, String path) {
  static final List<String> PARTS = List.of("round-trips", "rates", "wake-ups", "leaders", "deliveries");
  private static final Pattern HOSTS = Pattern.compile("[^,:/\\s]+:\\d{1,5}(,[^,:/\\s]+:\\d{1,5})*");
  private static final Pattern PATH = Pattern.compile("/[a-z-]+");
  private static final int MAX_REPEAT = 1000;
  private static final int MAX_WAITING = 10_000;

  static PeerOptions parse(String[] arguments) {
    String part = "round-trips";
    String hosts = null;
    double round_trip_ms = 1;
    int repeat = 5;
    int waiting = 1000;
    String path = "/zkrecipes-bench-curator-" + UUID.randomUUID();
    for (int i = 0; i < arguments.length; i += 2) {
      if (i + 1 == arguments.length) {
        throw new IllegalArgumentException(arguments[i] + " needs a value");
      }
      String value = arguments[i + 1];
      switch (arguments[i]) {
        case "--part" -> part = value;
        case "--hosts" -> hosts = value;
        case "--round-trip-ms" -> round_trip_ms = number(arguments[i], value);
        case "--repeat" -> repeat = whole_number(arguments[i], value);
        case "--waiting" -> waiting = whole_number(arguments[i], value);
        case "--path" -> path = path(value);
        default -> throw new IllegalArgumentException("unknown argument " + arguments[i]
            + "; known are --part, --hosts, --round-trip-ms, --repeat, --waiting and --path");
      }
    }
    return checked(new PeerOptions(part, hosts, round_trip_ms, repeat, waiting, path));
  }

  private static PeerOptions checked(PeerOptions options) {
    if (!PARTS.contains(options.part)) {
      throw new IllegalArgumentException("--part must be one of " + PARTS);
    }
    if (options.hosts == null || !HOSTS.matcher(options.hosts).matches() || !ports_in_range(options.hosts)) {
      throw new IllegalArgumentException("--hosts must be host:port[,host:port...]");
    }
    if (!(options.round_trip_ms > 0 && options.round_trip_ms <= 1000)) {
      throw new IllegalArgumentException("--round-trip-ms must be above 0 and at most 1000");
    }
    require_within("--repeat", options.repeat, MAX_REPEAT);
    require_within("--waiting", options.waiting, MAX_WAITING);
    return options;
  }

  private static String path(String value) {
    if (!PATH.matcher(value).matches()) {
      throw new IllegalArgumentException("--path must be a slash and small letters, not '" + value + "'");
    }
    return value;
  }

  private static void require_within(String name, int value, int most) {
    if (value < 1 || value > most) {
      throw new IllegalArgumentException(name + " must be from 1 to " + most);
    }
  }

  private static double number(String name, String value) {
    try {
      return Double.parseDouble(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + " must be a number, not '" + value + "'");
    }
  }

  private static int whole_number(String name, String value) {
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + " must be a whole number, not '" + value + "'");
    }
  }

  private static boolean ports_in_range(String hosts) {
    return Arrays.stream(hosts.split(","))
        .allMatch(host -> Integer.parseInt(host.substring(host.lastIndexOf(':') + 1)) <= 65535);
  }

  /** One repeat of the round-trips part takes about 100 round trips. After four times that, something is stuck. */
  long limit_seconds() {
    if (part.equals("rates") || part.equals("deliveries")) {
      return 900;  // it also waits while the others do their rounds
    }
    return part.equals("round-trips") ? 30 + (long) Math.ceil((repeat + 1) * 400 * round_trip_ms / 1000) : 180;
  }
}
