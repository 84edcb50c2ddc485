/** The public API: the store, its variables and its readers. */
package org.ddstore;
