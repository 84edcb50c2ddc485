// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.ddstore.spark.cluster.LiveExecutors;
import org.ddstore.spark.task.Versioned;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.ResidentShard;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Jars of two versions in one application. The second executor starts with a copy of the jar whose
 * version is another, and whose classes, except those that refuse a task, cannot be loaded.
 */
@Tag("system")
@Tag("slow")
@Timeout(300)
class JarVersionsTest extends OnTestCluster {
  private static final String VERSION = "META-INF/ddstore/version";
  private static final String OLD = "0.0.1-old";

  /** Packages without which a task of another version is refused. */
  private static final List<String> NOT_NEEDED = List.of("ingest", "job");

  @TempDir private static Path directory;
  private static Path oldJar;

  @BeforeAll
  static void start() {
    oldJar = directory.resolve("ddstore-old.jar");
    cluster =
        TestCluster.start(
            2,
            1,
            1024,
            Map.of(
                "spark.executor.extraClassPath",
                oldJar + File.pathSeparator + ExecutorArchive.classPath()));
  }

  @AfterEach
  void dropStores() {
    DDStores.list(cluster.session()).forEach(ResidentStore::drop);
  }

  @Test
  void isRefused() throws Exception {
    ResidentStore store = DDStores.from(numberedRows()).ranks(2).width(1).load("rows");
    writeOldJar(oldJar, OLD);
    ResidentShard good = store.shards().get(0);
    replaceOther(store.shards().get(1).executorId());
    Evidence evidence = new Evidence(directory);
    CompletableFuture<List<Boolean>> occupied = cluster.occupy(good, 1, evidence);
    Dataset<Row> rows = numberedRows(0, 50);

    refused(() -> cluster.session().read().format("ddstore").load("rows").collectAsList());
    refused(() -> mapped(store).collectAsList());
    StoreHandle handle = store.handle();
    refused(
        () ->
            JavaSparkContext.fromSparkContext(context())
                .parallelize(List.of(1), 1)
                .map(one -> handle.rows())
                .collect());
    refusedByStore(() -> DDStores.from(rows).ranks(1).load("other"));
    refusedByStore(() -> DDStores.from(rows.repartition(2)).ranks(1).load("other"));
    refusedByStore(() -> DDStores.from(rows).orderBy("t").ranks(1).load("other"));
    evidence.note("free", "");
    assertThat(occupied.get(1, TimeUnit.MINUTES)).containsExactly(true);
    refusedByStore(() -> store.run(task -> task.rank()));
    refusedByStore(store::repair);
    refusedByStore(() -> store.append(rows));
    refusedByStore(() -> DDStores.from(rows).run(task -> task.rank()));
    assertThat(DDStores.list(cluster.session())).containsExactly(store);
  }

  @Test
  void twoJarsOnOneClassPath() throws Exception {
    Path same = directory.resolve("ddstore-same.jar");
    Path old = directory.resolve("ddstore-second.jar");
    writeOldJar(old, OLD);
    writeOldJar(same, ownVersion());

    withJar(same, () -> DDStores.from(numberedRows()));
    withJar(
        old,
        () ->
            assertThatThrownBy(() -> DDStores.from(numberedRows()))
                .isInstanceOf(PreflightException.class)
                .hasMessageContainingAll(OLD, ownVersion(), old.toString(), "--jars"));
  }

  @Test
  void kryoKeepsTheContentOfATask() {
    SerializerInstance kryo = new KryoSerializer(new SparkConf()).newInstance();
    ClassTag<Versioned<String>> type = ClassTag$.MODULE$.apply(Versioned.class);

    assertThat(kryo.deserialize(kryo.serialize(Versioned.of("rows"), type), type).value())
        .isEqualTo("rows");
  }

  private static void withJar(Path jar, ThrowingCallable call) throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, before)) {
      thread.setContextClassLoader(loader);
      call.call();
    } catch (Exception e) {
      throw e;
    } catch (Throwable e) {
      throw (Error) e;
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static AbstractThrowableAssert<?, ?> refused(ThrowingCallable call) {
    return assertThatThrownBy(call)
        .hasStackTraceContaining(
            "the driver has DDStore %s, the executor has DDStore %s (%s)"
                .formatted(ownVersion(), OLD, oldJar))
        .hasStackTraceContaining("spark.executor.extraClassPath");
  }

  private static void refusedByStore(ThrowingCallable call) {
    refused(call).isInstanceOf(PreflightException.class);
  }

  private static Dataset<Row> mapped(ResidentStore store) {
    return store.map(
        () -> (batch, firstRow, output) -> output.accept(RowFactory.create(firstRow)),
        new StructType().add("first", DataTypes.LongType),
        100);
  }

  private static SparkContext context() {
    return cluster.session().sparkContext();
  }

  private static void replaceOther(String executor) {
    cluster.killExecutor(executor);
    await("another executor")
        .atMost(Duration.ofMinutes(1))
        .until(
            () ->
                !LiveExecutors.takesTasks(context(), executor)
                    && context().statusTracker().getExecutorInfos().length == 3);
  }

  private static String ownVersion() {
    try (var text = DDStores.class.getResourceAsStream("/" + VERSION)) {
      return new String(text.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void writeOldJar(Path jar, String version) throws Exception {
    Path classes =
        Path.of(DDStores.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    Path unfinished = jar.resolveSibling("unfinished");
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(unfinished));
        Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String name = classes.relativize(file).toString();
        zip.putNextEntry(new ZipEntry(name));
        if (name.equals(VERSION)) {
          zip.write(version.getBytes(StandardCharsets.UTF_8));
        } else if (NOT_NEEDED.stream()
            .noneMatch(name.replace("org/ddstore/spark/", "")::startsWith)) {
          Files.copy(file, zip);
        } // else an empty class, which cannot be loaded
      }
    }
    Files.move(unfinished, jar);
  }
}
