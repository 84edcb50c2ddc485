/**
 * What a user touches: the store, its variables and its readers, and the exceptions of all
 * packages.
 */
package org.ddstore;
