// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.time.Duration;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.config.Setting;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.dump.DumpSource;
import org.ddstore.spark.types.DumpException;
import org.ddstore.spark.types.DumpInfo;
import org.ddstore.spark.types.InvalidDumpException;
import org.ddstore.spark.types.PreflightException;
import org.ddstore.spark.types.StoreJobException;
import org.ddstore.types.Backing;

/**
 * The specification of a store that a dump is restored to: number of ranks, memory and transport.
 * Rows, schema and order are those of the dump. Immutable: every builder method returns a changed
 * copy. A builder method takes precedence over the {@code spark.ddstore.*} setting of the session,
 * which takes precedence over the default (docs/settings.md).
 */
public final class RestoreSpec {
  private final SparkSession session;
  private final DumpSource dump;
  private final Settings settings;
  private final ResourceProfile profile;

  private RestoreSpec(
      SparkSession session, DumpSource dump, Settings settings, ResourceProfile profile) {
    this.session = session;
    this.dump = dump;
    this.settings = settings;
    this.profile = profile;
  }

  static RestoreSpec of(SparkSession session, DumpSource dump) {
    return new RestoreSpec(
        session,
        dump,
        Settings.of(session),
        session.sparkContext().resourceProfileManager().defaultResourceProfile());
  }

  private RestoreSpec set(Setting setting, Object value) {
    return new RestoreSpec(session, dump, settings.with(setting, value), profile);
  }

  /** {@return the description of the dump} */
  public DumpInfo info() {
    return dump.info();
  }

  /**
   * {@return a copy with a number of ranks, which may differ from that of the dumped store; all
   * slots by default}
   *
   * @param ranks number of ranks, from 1 to the number of slots
   */
  public RestoreSpec ranks(int ranks) {
    return set(Setting.RANKS, ranks);
  }

  /**
   * {@return a copy with a width of replica groups; see {@link StoreSpec#width}}
   *
   * @param width a divisor of the number of ranks
   */
  public RestoreSpec width(int width) {
    return set(Setting.WIDTH, width);
  }

  /**
   * {@return a copy with a transport of the rows outside of shared memory; see {@link
   * StoreSpec#transport}}
   *
   * @param name name of a transport, or {@code auto}
   */
  public RestoreSpec transport(String name) {
    return set(Setting.TRANSPORT, requireNonNull(name, "name is null"));
  }

  /**
   * {@return a copy with another memory of the shards; for files see {@link #files}}
   *
   * @param backing {@code SHM} or {@code DIRECT}
   */
  public RestoreSpec backing(Backing backing) {
    return set(Setting.BACKING, requireNonNull(backing, "backing is null"));
  }

  /**
   * {@return a copy that keeps the shards in mapped files}
   *
   * @param directory absolute path of a directory that exists on every executor
   */
  public RestoreSpec files(Path directory) {
    requireNonNull(directory, "directory is null");
    return set(Setting.BACKING, Backing.FILE).set(Setting.DIRECTORY, directory);
  }

  /**
   * {@return a copy that keeps the shards in shared memory under a mount other than /dev/shm}
   *
   * @param directory absolute path of a directory that exists on every executor
   */
  public RestoreSpec sharedMemory(Path directory) {
    requireNonNull(directory, "directory is null");
    return set(Setting.BACKING, Backing.SHM).set(Setting.DIRECTORY, directory);
  }

  /**
   * {@return a copy in which rows of the same process and host are read by memory (true, the
   * default), or over the transport like rows of other hosts}
   *
   * @param shortcut false to read all rows over the transport
   */
  public RestoreSpec shortcut(boolean shortcut) {
    return set(Setting.SHORTCUT, shortcut);
  }

  /**
   * {@return a copy in which a restore fails early (true, the default) where the shards exceed the
   * available memory}
   *
   * @param check false to restore without the check
   */
  public RestoreSpec checkMemory(boolean check) {
    return set(Setting.CHECK_MEMORY, check);
  }

  /**
   * {@return a copy with a maximum number of submissions of the job, including the first}
   *
   * @param attempts number of submissions, from 1 to 1,000
   */
  public RestoreSpec maxAttempts(int attempts) {
    return set(Setting.MAX_ATTEMPTS, attempts);
  }

  /**
   * {@return a copy with a maximum time of a batch whose rows come over the transport}
   *
   * @param timeout maximum time, above 0
   */
  public RestoreSpec readTimeout(Duration timeout) {
    return set(Setting.READ_TIMEOUT, requireNonNull(timeout, "timeout is null"));
  }

  /**
   * {@return a copy with a maximum time that a rank waits for the others in a collective call}
   *
   * @param timeout maximum time, above 0
   */
  public RestoreSpec collectiveTimeout(Duration timeout) {
    return set(Setting.COLLECTIVE_TIMEOUT, requireNonNull(timeout, "timeout is null"));
  }

  /**
   * {@return a copy with a maximum time that a start waits for executors before it fails for lack
   * of slots}
   *
   * @param timeout maximum time, above 0
   */
  public RestoreSpec slotsTimeout(Duration timeout) {
    return set(Setting.SLOTS_TIMEOUT, requireNonNull(timeout, "timeout is null"));
  }

  /**
   * {@return a copy with the resources that each rank needs of its executor; see {@link
   * StoreSpec#resources}}
   *
   * @param resources resources of one rank
   */
  public RestoreSpec resources(ResourceProfile resources) {
    requireNonNull(resources, "resources is null");
    session.sparkContext().resourceProfileManager().addResourceProfile(resources);
    return new RestoreSpec(session, dump, settings, resources);
  }

  /**
   * Restores the rows in one barrier stage, in which all ranks read their parts of the dump at the
   * same time, and keeps them in the executors under a name. Verifies all checksums, and the digest
   * of the rows. Lost rows of the store are loaded again from the dump, so keep it while the store
   * exists. Blocks. First waits while another thread writes a store of this name, for at most
   * {@code spark.ddstore.writeTimeout}.
   *
   * @param name 1 to 128 letters, digits, {@code _} and {@code -}, unused in this application
   * @return the store; it has the options of the dumped store for rows that are appended
   * @throws IllegalArgumentException if the name is illegal or in use
   * @throws InvalidDumpException if the dump is damaged; the message names the file
   * @throws DumpException if the file system fails
   * @throws PreflightException if the cluster cannot load the store; it lists what is missing
   * @throws StoreJobException if the last attempt failed for another reason
   */
  public ResidentStore load(String name) {
    requireNonNull(name, "name is null");
    return new RestoreLauncher(session, dump, settings, profile).load(name, false);
  }

  /**
   * Restores the rows like {@link #load(String)} and replaces the store of this name, if it exists.
   * The old store is dropped after the new one is complete, so memory must suffice for both. If the
   * restore fails, the old store remains.
   *
   * @param name 1 to 128 letters, digits, {@code _} and {@code -}
   * @return the new store
   */
  public ResidentStore replace(String name) {
    requireNonNull(name, "name is null");
    return new RestoreLauncher(session, dump, settings, profile).load(name, true);
  }

  /** Returns one line: the dump, and the settings that are not default. */
  @Override
  public String toString() {
    String text = settings.text();
    return "RestoreSpec[%s%s]".formatted(dump, text.isEmpty() ? "" : "; " + text);
  }
}
