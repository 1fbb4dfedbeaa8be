# Installs spool and ralph-hook {{version}} of ralph-speckit: fetches the archive, compares its hash with the one written below, and
# puts the two programs into a folder. It asks for no rights; the only other change is the PATH of this person.
param([string]$To = "$env:LOCALAPPDATA\Programs\ralph-speckit", [string]$From = "{{url}}")
$ErrorActionPreference = "Stop"

$name = "ralph-speckit-{{version}}-windows-x86_64"
$folder = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
New-Item -ItemType Directory $folder | Out-Null
try {
    $archive = Join-Path $folder "archive.zip"
    Invoke-WebRequest -UseBasicParsing -Uri "$From/$name.zip" -OutFile $archive
    $found = (Get-FileHash -Algorithm SHA256 $archive).Hash
    if ($found -ne "{{hash_windows_x86_64}}") {
        throw "$From/$name.zip is not the archive that was released: its hash is $found; nothing was installed"
    }
    Expand-Archive $archive $folder
    New-Item -ItemType Directory -Force $To | Out-Null
    Copy-Item -Force (Join-Path $folder "spool.exe"), (Join-Path $folder "ralph-hook.exe") $To
} finally {
    Remove-Item -Recurse -Force $folder
}
$path = [Environment]::GetEnvironmentVariable("Path", "User")
if (($path -split ";") -notcontains $To) {
    [Environment]::SetEnvironmentVariable("Path", "$path;$To", "User")
}
Write-Output "installed spool and ralph-hook {{version}} in $To"
Write-Output "next, in a new terminal: spool setup"
