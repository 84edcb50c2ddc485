// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.ddstore.local.EmbeddedSpark;
import org.ddstore.local.Output;
import org.ddstore.local.Progress;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.StoreSpec;
import org.ddstore.spark.config.ByteSize;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.Plural;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command that loads data sets and lets other programs read them until it is ended. */
@Command(
    name = "serve",
    mixinStandardHelpOptions = true,
    description = {
      "Loads data sets into memory, writes a handle for each, and lets programs in Python, C and"
          + " Java read them by it until Ctrl+C.",
      "Whoever can read the file of a handle can read the rows: its mode is 0600. Rows of an"
          + " executor that ends are loaded again, and the handle is written anew."
    })
final class ServeCommand implements Callable<Integer> {
  private static final int RANKS = 4;
  private static final int CHECK_MS = 1000;

  @Parameters(arity = "0..*", paramLabel = "PATH", description = "The same as --input PATH.")
  private List<String> paths = new ArrayList<>();

  @Option(
      names = "--input",
      paramLabel = "PATH",
      description =
          "File, directory or pattern, see --format. Can be repeated: each is a store of its own.")
  private List<String> inputs = new ArrayList<>();

  @Option(
      names = "--handle",
      paramLabel = "FILE",
      required = true,
      description =
          "File to write the handle to; with several inputs a folder, for one file each. Replaces"
              + " only a handle whose store has ended. Deleted at the end.")
  private Path handle;

  @Option(
      names = "--listen",
      paramLabel = "HOST",
      description = {
        "Address of this machine on which rows are served to other hosts; ${DEFAULT-VALUE}, this"
            + " host only, by default.",
        "Whoever reaches it and has a handle can read the rows, which are not encrypted. Ignored"
            + " under spark-submit."
      })
  private String host = EmbeddedSpark.LOOPBACK;

  @Mixin private InputOptions options;
  @Mixin private SourceOptions source;
  @Mixin private DemoCommand.BackingOption backing;
  @Mixin private ClusterOptions cluster;
  @Mixin private Output output;

  @Spec private CommandSpec command;

  private final Map<String, String> inputsByName = new LinkedHashMap<>();

  @Override
  public Integer call() throws IOException, InterruptedException {
    nameInputs();
    Map<String, String> settings =
        EmbeddedSpark.isSubmitted()
            ? Map.of()
            : Map.of(EmbeddedSpark.HOST, ListenAddress.of(host, command));
    HandleFiles files = new HandleFiles(handle, List.copyOf(inputsByName.keySet()));
    EmbeddedSpark.quietLogging();
    files.prepare();
    ServedStores stores = new ServedStores(files, command.commandLine().getErr());
    try (EmbeddedSpark spark = cluster.open(RANKS, settings)) {
      spark.beforeStop(stores::end);
      List<Map<String, Object>> results = new ArrayList<>();
      for (Map.Entry<String, String> input : inputsByName.entrySet()) {
        results.add(serve(spark, input.getKey(), input.getValue(), files, stores));
      }
      printProgram(
          files.all().iterator().next(),
          settings.getOrDefault(EmbeddedSpark.HOST, EmbeddedSpark.LOOPBACK));
      output.finish(0, results, Map.of());
      while (!spark.session().sparkContext().isStopped()) {
        Thread.sleep(CHECK_MS);
        stores.repair();
      }
      throw new DDStoreException("Spark has stopped: its log says why");
    } finally {
      files.delete();
    }
  }

  private void nameInputs() {
    List<String> all = new ArrayList<>(paths);
    all.addAll(inputs);
    if (all.isEmpty()) {
      throw new ParameterException(
          command.commandLine(),
          "no input: name the data, as in ./%s PATH".formatted(command.qualifiedName()));
    }
    for (String input : all) {
      String checked = EmbeddedSpark.isSubmitted() ? input : InputCheck.checked(input, options);
      String name = HandleFiles.nameOf(input);
      String other = inputsByName.putIfAbsent(name, checked);
      if (other != null) {
        throw new ParameterException(
            command.commandLine(),
            "--input %s: the store of %s has the name \"%s\", too: rename one, or serve it separately"
                .formatted(input, other, name));
      }
    }
  }

  private Map<String, Object> serve(
      EmbeddedSpark spark, String name, String input, HandleFiles files, ServedStores stores)
      throws IOException {
    ResidentStore store;
    long startNs = System.nanoTime();
    try (Progress progress = Progress.ofSpark("serve")) {
      progress.describe("load " + name);
      StoreSpec spec = Source.spec(InputFormat.read(spark.session(), input, options), source);
      store = cluster.on(backing.on(spec, spark)).load(name);
      stores.add(store, files.of(name));
    }
    double seconds = (System.nanoTime() - startNs) / 1e9;
    long bytes = store.shards().stream().mapToLong(ResidentShard::bytes).sum();
    Path file = files.of(name);
    output.line(
        "%s: %,d rows, %s on %s, loaded in %.1f s; handle %s"
            .formatted(
                name,
                store.rows(),
                ByteSize.format(bytes),
                Plural.of(store.ranks(), "rank"),
                seconds,
                file));
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("name", name);
    result.put("rows", store.rows());
    result.put("bytes", bytes);
    result.put("seconds", seconds);
    result.put("handle", file.toString());
    return result;
  }

  private void printProgram(Path file, String address) {
    if (!address.equals(EmbeddedSpark.LOOPBACK)) {
      output.line(
          "Other hosts read rows on %s with a copy of a handle; the rows are not encrypted."
              .formatted(address));
    }
    String path = file.toString().replace("\\", "\\\\").replace("\"", "\\\"");
    output.line("");
    output.line("In Python, as this user, until Ctrl+C here:");
    output.verbatim(
        """

        import ddstore
        store = ddstore.attach("%s")
        print(store)
        batch = store.get_batch([0, len(store) - 1])
        print(batch)
        """
            .formatted(path));
  }
}
