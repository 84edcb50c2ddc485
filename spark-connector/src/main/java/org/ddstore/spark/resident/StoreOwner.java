// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.catalyst.CurrentUserContext;
import org.ddstore.spark.config.Setting;
import org.ddstore.types.DDStoreException;

/**
 * The user who created a resident store. If an application serves several users, as a Thrift or
 * Spark Connect server does, other users can read the store but not change it.
 *
 * @param user user name, from Spark Connect, Spark SQL or Hadoop, in this order
 */
public record StoreOwner(String user) {
  private static final String JOB_TAGS = "spark.job.tags";

  /**
   * The tag that Spark Connect adds to the jobs of an operation. Tags contain no comma and both ids
   * no underscore, so that a user cannot pass for another by a name that imitates a tag.
   */
  private static final Pattern CONNECT_TAG =
      Pattern.compile(
          "(?:^|,)SparkConnect_OperationTag_User_([^,]*)_Session_[^,_]*_Operation_[^,_]*(?:,|$)");

  /** Returns the user for whom the calling thread works. */
  public static StoreOwner current(SparkContext context) {
    Matcher connect = connectTag(context);
    if (connect.find()) {
      return new StoreOwner(connect.group(1));
    }
    String sqlUser = CurrentUserContext.CURRENT_USER().get();
    if (sqlUser != null && !sqlUser.isEmpty() && !sqlUser.equals(context.sparkUser())) {
      return new StoreOwner(sqlUser);
    }
    try {
      return new StoreOwner(UserGroupInformation.getCurrentUser().getShortUserName());
    } catch (IOException e) {
      throw new UncheckedIOException("Hadoop knows no current user", e);
    }
  }

  private static Matcher connectTag(SparkContext context) {
    String tags = context.getLocalProperty(JOB_TAGS);
    return CONNECT_TAG.matcher(tags == null ? "" : tags);
  }

  /** Returns whether the calling thread works for a user of Spark Connect. */
  public static boolean isOfConnect(SparkContext context) {
    return connectTag(context).find();
  }

  /**
   * Returns whether owners are checked. Reads the application's configuration, because a user could
   * change that of a session.
   *
   * @throws IllegalArgumentException if the setting is neither true nor false
   */
  public static boolean isChecked(SparkConf application) {
    Setting setting = Setting.OWNER_CHECK;
    return Boolean.parseBoolean(
        setting.checked(application.get(setting.key(), setting.defaultText())));
  }

  /**
   * Checks that the calling thread works for this user, unless owners are not checked.
   *
   * @throws DDStoreException if the thread works for another user
   */
  public void check(SparkContext context, String change, String store) {
    StoreOwner caller = isChecked(context.getConf()) ? current(context) : this;
    if (!caller.equals(this)) {
      throw new DDStoreException(
          "user \"%s\" cannot %s store \"%s\" of user \"%s\": ask the owner, or start the application with %s=false"
              .formatted(caller.user(), change, store, user, Setting.OWNER_CHECK.key()));
    }
  }
}
